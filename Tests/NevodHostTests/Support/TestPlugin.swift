internal import Glibc
import NevodHost
internal import NevodTestSupport

/// The plugins of TestPlugins, each compiled once and loaded as usual.
enum TestPlugin {
    static let view = Result { try load("view") }
    static let settings = Result { try load("settings") }
    static let edits = Result { try load("edits") }
    static let response = Result { try load("response") }
    static let flow = Result { try load("flow") }
    static let bare = Result { try load("bare") }
    static let body = Result { try load("body") }
    static let parameters = Result { try load("parameters") }
    /// Each call gives a new value, whose schemes haven't warned yet.
    static func keeper() throws -> Plugin { try load("keeper") }
    static func slow() throws -> Plugin { try load("slow") }

    /// The real plugin, which the build puts beside the test binary.
    static let hmac = Result { try Plugin(named: "HMACAuth") }

    // From the folder Probes: complete schemes, which show that the contract suits them.
    static let digest = Result { try load("digest", from: "Probes") }
    static let sigv4 = Result { try load("sigv4", from: "Probes") }
    static let dpop = Result { try load("dpop", from: "Probes") }
    static let basic = Result { try load("basic", from: "Probes") }
    static let oauth = Result { try load("oauth", from: "Probes") }
    static let scram = Result { try load("scram", from: "Probes") }
    static let signed = Result { try load("signed", from: "Probes") }
    static let agent = Result { try load("agent", from: "Probes") }
    static let scope = Result { try load("scope", from: "Probes") }

    /// The compiler's options, which may add a sanitizer.
    private static let compiler = (getenv("NEVOD_TEST_PLUGIN_COMPILER").map { String(cString: $0) } ?? "cc")
        .split(separator: " ").map(String.init)

    /// Compiles the plugin whose tables have the sizes that the macros define.
    static func limits(_ macros: [String]) throws -> Plugin { try load("limits", macros: macros) }

    private static func load(_ name: String, from sources: String = "TestPlugins", macros: [String] = []) throws -> Plugin {
        let folder = try TemporaryFolder()
        let library = "\(folder.path)/lib\(name).so"
        _ = try Command.output(
            compiler + [
                "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared", "-fvisibility=hidden",
                "-I\(repository)/Sources/NevodPluginABI/include",
                "\(repository)/Tests/NevodHostTests/\(sources)/\(name).c", "-o", library,
            ] + macros.map { "-D\($0)" } + (sources == "Probes" ? ["-lcrypto"] : []))
        return try Plugin(named: library)
    }
}

/// A clock that stands still.
extension HostClock {
    static let fixed = HostClock { 1_767_225_600_123_456_789 }
}
let fixedSeconds = 1_767_225_600
