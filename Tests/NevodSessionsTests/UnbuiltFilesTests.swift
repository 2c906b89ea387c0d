import Foundation
import NevodTestSupport
import Testing

/// Here, a condition at the top leaves out the files for Apple's systems. The compiler can still parse them.
struct UnbuiltFilesTests {
    private static let files = [
        "NevodSessions/State/AuthState+Apple.swift",
        "NevodHostFoundation/KeychainStorage.swift", "NevodSessions/Presence/LocalAuthenticationCheck.swift",
        "NevodHostFoundation/PinnedURLSession.swift",
    ]

    private func parse(_ text: String) async throws -> Bool {
        let folder = try TemporaryFolder()
        let path = try folder.write("file.swift", text)
        return try await onOwnThread {
            do {
                _ = try Command.output(["bash", "-c", "exec swiftc -frontend -parse \"$0\" 2>&1", path])
                return true
            } catch is Command.Failure {
                return false
            }
        }
    }

    @Test(arguments: files) func `A file that isn't built here has no fault of syntax`(file: String) async throws {
        let text = try String(contentsOfFile: "\(repository)/Sources/\(file)", encoding: .utf8)
        let forced = text.replacing(/#if canImport\(\w+\)/, with: "#if true")
        #expect(forced != text && forced.contains("// Not built on Linux"))
        #expect(try await parse(forced))
        // The compiler parses the guarded code.
        let brace = try #require(forced.lastIndex(of: "}"))
        #expect(try await !parse(forced.replacingCharacters(in: brace...brace, with: "")))
    }
}
