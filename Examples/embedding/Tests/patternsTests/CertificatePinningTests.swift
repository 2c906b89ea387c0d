import NevodSessions
import Testing

@testable import patterns

private let pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

@Test func `A pinned host is refused where it has no key, and a malformed pin is an error`() async throws {
    let session = try pinnedSession(current: pin, backup: pin)
    do {
        _ = try await session.send(HTTPRequest(.get, "http://api.example.com/"), TransferOptions())
        Issue.record("sent without a key")
    } catch {
        #expect((error as? TransportError)?.code == .pinMismatch)
    }
    #expect(throws: TransportError.self) { try pinnedSession(current: pin, backup: "sha256//backup") }
}
