import Foundation
import NevodSessions
import Testing

@testable import patterns

@Test func `A revoked token may order no more, and the session is gone`() async throws {
    let forms = Forms()
    let server = Server { request in
        guard case .bytes(let bytes) = request.body, request.headers["Authorization"] == "Basic c2hvcDpzM2NyZXQ=" else {
            return Server.Answer(status: 401)
        }
        let form = String(decoding: bytes, as: UTF8.self)
        if request.target == "/revoke" {
            forms.append(form)
            return Server.Answer()
        }
        let isActive = !forms.all.contains { $0.hasPrefix("token=a&") }
        return Server.Answer(json: isActive ? #"{"active": true, "scope": "orders profile"}"# : #"{"active": false}"#)
    }
    let service = TokenService(url: "https://login.example.com", secret: Secret("s3cret"), session: server)
    let storage = SessionStorage<String>(storage: InMemoryStorage())
    let tokens = AuthTokens(accessToken: "a", refreshToken: "r")
    try await storage.save(tokens, user: "ada")
    #expect(try await service.mayOrder(tokens))
    try await service.logOut(storage)
    #expect(try await service.mayOrder(tokens) == false)
    #expect(await storage.loadTokens() == nil)
    #expect(forms.all == ["token=r&token_type_hint=refresh_token", "token=a&token_type_hint=access_token"])
}

private final class Forms: @unchecked Sendable {  // `forms` is touched only while the lock is held.
    private let lock = NSLock()
    private var forms: [String] = []

    func append(_ form: String) { lock.withLock { forms.append(form) } }
    var all: [String] { lock.withLock { forms } }
}
