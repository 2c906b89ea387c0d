import Foundation
import NevodTestSupport
import Testing

/// Files for Apple's systems are left out here by their first condition; the compiler can still read them.
struct UnbuiltFilesTests {
    private static let files = [
        "NevodSessions/State/AuthState+SwiftUI.swift", "NevodSessions/State/AuthState+Combine.swift",
        "NevodHostFoundation/KeychainStorage.swift", "NevodSessions/Presence/LocalAuthenticationCheck.swift",
        "NevodHostFoundation/ServerTrust.swift",
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
        // The compiler does read what the condition guards.
        let brace = try #require(forced.lastIndex(of: "}"))
        #expect(try await !parse(forced.replacingCharacters(in: brace...brace, with: "")))
    }
}
