import Glibc
import NevodPluginTesting
import NevodTestSupport

/// Plugins in C, each compiled once.
enum TestLibrary {
    static let hmac = Result { try compile("\(repository)/Examples/c-hmac/hmac.c", flags: ["-lcrypto"]) }
    static let session = Result { try compile("\(repository)/Examples/c-session/session.c") }
    static let edits = Result { try compile("\(repository)/Tests/NevodPluginTestingTests/TestPlugins/edits.c") }

    static func compile(_ source: String, flags: [String] = []) throws -> String {
        let folder = try TemporaryFolder()
        let library = "\(folder.path)/libtest.so"
        let compiler = (getenv("NEVOD_TEST_PLUGIN_COMPILER").map { String(cString: $0) } ?? "cc").split(separator: " ").map(
            String.init)
        _ = try Command.output(
            compiler + [
                "-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden",
                "-I\(repository)/Sources/NevodPluginABI/include", "-I\(repository)/Bindings/C", source, "-o", library,
            ] + flags)
        // Loaded before the folder is deleted.
        guard dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != nil else {
            throw Command.Failure(description: String(cString: dlerror()))
        }
        kept.append(folder)
        return library
    }

    private static let kept = Collected<TemporaryFolder>()
}
