internal import CPluginCalls

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Receives the log lines of a plugin's instance.
///
/// - Parameters:
///   - level: 1 debug, 2 info, 3 warning, 4 error.
///   - message: one line. Control characters other than tabs are escapes (`\u{a}`).
public typealias PluginLog = @Sendable (_ level: Int32, _ message: String) -> Void

/// The place in a scheme's code that a line of its log comes from.
package enum PluginLogOrigin {
    /// Whether this thread is within `authorize`. Meant for a ``PluginLog``, which is called where the plugin writes the line.
    package static var isAuthorize: Bool { nevod_call_current().map { strcmp($0.pointee.function, "authorize") == 0 } ?? false }
}
