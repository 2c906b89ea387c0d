public import NevodPluginABI

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A plugin in a test. Its schemes run in the test's process, with the test's clock and random bytes, and without a network.
///
/// ```swift
/// @Test func sendsTheHeader() throws {
///     let plugin = TestedPlugin(nevod_plugin_v1())
///     let scheme = try plugin.scheme("custom-header", settings: ["client-id": "me", "client-secret": "s"])
///     let signed = try scheme.authorize(TestRequest("GET", "https://api.example.com/orders"))
///     #expect(signed.headers["X-Client-ID"] == "me")
/// }
/// ```
public struct TestedPlugin: Sendable {
    // Immutable and valid until the process ends, by the contract.
    private nonisolated(unsafe) let table: UnsafePointer<nevod_plugin>

    /// Takes the table of a plugin that is linked into the test.
    ///
    /// - Parameter table: the result of its `nevod_plugin_v1`.
    public init(_ table: UnsafePointer<nevod_plugin>) {
        self.table = table
    }

    /// Loads a plugin's library, written in any language. It stays loaded.
    ///
    /// - Parameter path: the library's path, such as `.build/debug/libCustomHeader.so`.
    /// - Throws: ``TestFailure`` if it can't be loaded.
    public init(library path: String) throws(TestFailure) {
        let path = path.contains("/") ? path : "./\(path)"
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), let entry = dlsym(library, "nevod_plugin_v1")
        else {
            throw TestFailure("the plugin can't be loaded: \(dlerror().map { String(cString: $0) } ?? "no reason given")")
        }
        typealias EntryPoint = @convention(c) () -> UnsafePointer<nevod_plugin>?
        guard let table = unsafeBitCast(entry, to: EntryPoint.self)() else {
            throw TestFailure("nevod_plugin_v1 of \(path) returned NULL")
        }
        self.table = table
    }

    /// The ids of the schemes, in the plugin's order.
    public var schemes: [String] { ContractHost.schemes(of: table).map { Self.id(of: $0) } }

    /// Makes an instance of a scheme, as a host does: with the given settings, and defaults for the others.
    ///
    /// - Parameters:
    ///   - id: nil for the only scheme.
    ///   - settings: in order; a repeatable setting may occur several times.
    ///   - clock: the time that the scheme sees.
    ///   - random: the bytes that the scheme gets.
    ///   - publicSuffixes: the domains that the scheme is told are public suffixes, in addition to names without a dot.
    /// - Throws: ``TestFailure``: the scheme's own error, or the error for a setting that is missing or that the scheme doesn't
    ///   declare.
    public func scheme(
        _ id: String? = nil, settings: KeyValuePairs<String, String> = [:], clock: TestClock = .fixed(1_767_225_600),
        random: TestRandom = .repeating([0x2A]), publicSuffixes: Set<String> = ["co.uk", "com", "github.io", "io", "net", "org"]
    ) throws(TestFailure) -> TestedScheme {
        let all = ContractHost.schemes(of: table)
        let known = schemes.map { "\"\($0)\"" }.joined(separator: ", ")
        guard let found = id == nil && all.count == 1 ? all.first : all.first(where: { Self.id(of: $0) == id }) else {
            throw TestFailure("there is no scheme \"\(id ?? "")\"; the plugin has \(known)")
        }
        var options = ContractHost.Options()
        options.publicSuffixes = publicSuffixes
        return try TestedScheme(
            ContractHost(found, options), settings.map { ($0.key, $0.value) }, clock: clock, random: random)
    }

    private static func id(of scheme: UnsafePointer<nevod_scheme>) -> String {
        var reader = TableReader()
        return String(decoding: reader.bytes(scheme.pointee.id, "a scheme's id"), as: UTF8.self)
    }
}
