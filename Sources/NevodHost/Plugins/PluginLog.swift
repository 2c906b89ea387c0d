/// Receives the log lines of a plugin's instance.
///
/// - Parameters:
///   - level: 1 debug, 2 info, 3 warning, 4 error.
///   - message: one line, without control characters.
public typealias PluginLog = @Sendable (_ level: Int32, _ message: String) -> Void
