internal import NevodHost

/// The plugins of TestPlugins, each compiled once, and loaded like any other.
enum TestPlugin {
    static let view = Result { try load("view") }
    static let settings = Result { try load("settings") }
    static let edits = Result { try load("edits") }
    static let flow = Result { try load("flow") }

    /// The real one, as the build left it beside the test binary.
    static let hmac = Result { try Plugin(named: "HMACAuth") }

    private static func load(_ name: String) throws -> Plugin {
        let folder = try TemporaryFolder()
        let library = "\(folder.path)/lib\(name).so"
        _ = try Command.output([
            "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared", "-fvisibility=hidden",
            "-I\(repository)/Sources/NevodPluginABI/include",
            "\(repository)/Tests/NevodHostTests/TestPlugins/\(name).c", "-o", library,
        ])
        return try Plugin(named: library)
    }
}

/// A clock that stands still.
extension HostClock {
    static let fixed = HostClock { 1_767_225_600_123_456_789 }
}
let fixedSeconds = 1_767_225_600
