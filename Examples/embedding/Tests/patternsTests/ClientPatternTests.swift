import Foundation
import NevodSessions
import Synchronization
import Testing

@testable import patterns

/// A client of a server within the test, with a session if it is given tokens.
private func makeClient(
    _ server: Server, tokens: AuthTokens? = AuthTokens(access: "token", refresh: "r")
) async throws -> JWTAuthClient {
    let storage = SessionStorage<MFAUser>(storage: InMemoryStorage())
    let client = JWTAuthClient(
        baseURL: "https://api.example.com",
        tokenProvider: DefaultTokenProvider(tokenStorage: storage) { _ in token(#"{"name": "new"}"#) },
        session: server)
    if let tokens { try await client.saveSession(tokens) }
    return client
}

/// Tokens with these claims, signed by nobody.
private func token(_ claims: String) -> AuthTokens {
    func part(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
    return AuthTokens(access: part(#"{"alg":"none"}"#) + "." + part(claims) + ".", refresh: "r")
}

private func text(_ request: HTTPRequest) -> String {
    guard case .bytes(let bytes) = request.body else { return "" }
    return String(decoding: bytes, as: UTF8.self)
}

@Test func `Claims have types`() {
    let tokens = token(#"{"name": "Ada", "roles": ["admin"], "exp": 1900000000}"#)
    #expect(greeting(for: tokens) == "Ada, administrator" && greeting(for: token("{}")) == "stranger")
    #expect(hoursLeft(of: tokens, at: Date(timeIntervalSince1970: 1_899_992_800)) == 2)
    #expect(hoursLeft(of: tokens, at: Date(timeIntervalSince1970: 1_899_999_970)) == nil)
}

@Test func `Errors have types`() async throws {
    let client = try await makeClient(
        Server { request in
            let order = try JSONDecoder().decode(Order.self, from: Data(text(request).utf8))
            return switch order.item {
            case "ski": Server.Answer(status: 201, json: #"{"id": 7, "item": "ski"}"#)
            case "surf": Server.Answer(status: 409, json: #"{"code": "OUT_OF_STOCK", "message": "none left"}"#)
            default: Server.Answer(status: 422, json: #"{"code": "UNKNOWN", "message": "what?"}"#)
            }
        })
    #expect(try await place(Order(item: "ski"), with: client) == "order 7, status 201")
    #expect(try await place(Order(item: "surf"), with: client) == "sold out")
    let failure = await #expect(throws: FailureResponse<OrderError>.self) { try await place(Order(item: "sled"), with: client) }
    #expect(failure?.message == "what?" && failure?.status == 422)
}

@Test func `A signature covers body and time`() async throws {
    let client = try await makeClient(
        Server { request in
            let time = request.headers["X-Timestamp"] ?? ""
            let expected = try HMACSHA256.hexCode(of: (text(request) + time).utf8, key: "key".utf8)
            let isRight = !time.isEmpty && request.headers["X-Signature"] == expected && text(request) == #"{"amount":"7"}"#
            return Server.Answer(status: isRight && request.headers["Authorization"] == "Bearer token" ? 202 : 403)
        })
    #expect(try await send(["amount": "7"], with: client, secret: "key") == 202)
    await #expect(throws: NetworkError.clientError(403)) { try await send(["amount": "7"], with: client, secret: "other") }
}

@Test(arguments: [false, true]) func `A request has its own retries`(isUrgent: Bool) async throws {
    let attempts = Attempts()
    let client = try await makeClient(
        Server { _ in
            let number = attempts.next()
            return Server.Answer(status: number < 3 ? 503 : 200, json: "report \(number)")
        })
    if isUrgent {
        await #expect(throws: NetworkError.serverError(503)) { try await report(with: client, isUrgent: true) }
        #expect(attempts.count == 1)
    } else {
        #expect(try await report(with: client, isUrgent: false) == "report 3")
    }
}

@Test func `A login asks for a second factor`() async throws {
    let challenge = #""sessionId": "s-1", "mfaChallenge": {"method": "totp"}"#
    let client = try await makeClient(
        Server { request in
            guard request.target == "/auth/mfa/verify" else {
                return Server.Answer(status: 403, json: #"{"code": "MFA_REQUIRED", \#(challenge)}"#)
            }
            guard text(request).contains("123456"), text(request).contains("s-1") else {
                return Server.Answer(status: 401, json: #"{"code": "MFA_WRONG_CODE", "attemptsLeft": 2}"#)
            }
            return Server.Answer(json: #"{"accessToken": "access", "refreshToken": "refresh"}"#)
        }, tokens: nil)
    let (login, codes) = (mfaLogin(with: client), Attempts())
    let tokens = try await logIn(LoginCredentials(email: "ada", password: "secret"), by: login) { challenge in
        #expect(challenge.method == "totp")
        return codes.next() == 1 ? "000000" : "123456"
    }
    #expect(tokens.access == "access" && codes.count == 2)
    #expect(try await client.loadSession() == .valid(tokens))
}

@Test @MainActor func `A state shows a login with a second factor`() async throws {
    struct Service: AuthServicing {
        func login(email: String, password: String) async throws -> UserSession<MFAUser> { throw NetworkError.unauthorized }
        func register(email: String, password: String, name: String) async throws -> UserSession<MFAUser> {
            throw NetworkError.unauthorized
        }
        func logout() async throws {}
        func fetchUser() async throws -> MFAUser { MFAUser(name: "Ada") }
    }
    let storage = SessionStorage<MFAUser>(storage: InMemoryStorage())
    let client = JWTAuthClient(
        baseURL: "https://api.example.com", tokenProvider: DefaultTokenProvider(tokenStorage: storage) { $0 },
        session: Server { request in
            text(request).contains("123456")
                ? Server.Answer(json: #"{"accessToken": "access", "refreshToken": "refresh"}"#)
                : Server.Answer(status: 410, json: #"{"code": "MFA_EXPIRED"}"#)
        })
    let state = AuthState(service: Service(), tokenStorage: storage)
    await finish(mfaLogin(with: client), "s-1", code: "000000", in: state)
    #expect(state.error == .other(MFAError.expired) && !state.isLoggedIn)
    await finish(mfaLogin(with: client), "s-1", code: "123456", in: state)
    #expect(state.user?.name == "Ada" && state.error == nil)
}

@Test func `Tokens are renewed while a window opens`() async throws {
    let client = try await makeClient(Server { _ in Server.Answer(status: 500) }, tokens: token(#"{"exp": 1}"#))
    let session = try await start(client) {}
    #expect(session.isValid && session.tokens?[string: "name"] == "new")
}

@Test func `One call takes a URLSession`() async throws {
    let requests = Attempts()
    let server = Server { _ in
        _ = requests.next()
        return Server.Answer()
    }
    let storage = SessionStorage<MFAUser>(storage: InMemoryStorage())
    // Nothing listens on port 1. The server within the test couldn't show that.
    let client = JWTAuthClient(
        baseURL: "http://127.0.0.1:1", tokenProvider: DefaultTokenProvider(tokenStorage: storage) { $0 }, retryPolicy: .none,
        session: server)
    try await client.saveSession(AuthTokens(access: "token", refresh: "r"))
    await #expect(throws: NetworkError.noConnection) { try await profile(with: client) }
    #expect(requests.count == 0)
}

@Test func `A session is watched`() async throws {
    let client = try await makeClient(Server { _ in Server.Answer() }, tokens: nil)
    let (shown, line) = AsyncStream.makeStream(of: String.self)
    let watcher = Task { await watch(client) { line.yield($0) } }
    var lines = shown.makeAsyncIterator()
    #expect(await lines.next() == "please log in")
    try await client.saveSession(token(#"{"exp": 1}"#))
    #expect(await lines.next() == "one moment")
    try await client.refreshExpiredTokens()
    #expect(await lines.next() == "hello, new")
    watcher.cancel()
    await watcher.value
}

@Test @MainActor func `A view's state loads with the session`() async throws {
    let client = try await makeClient(Server { _ in Server.Answer(json: "profile") }, tokens: nil)
    let state = AuthenticatedState(client: client) { client in
        let response: SuccessResponse<String> = try await client.sendAuthenticated(.get("/profile"))
        return response.data
    }
    await state.loadData()
    guard case .failed(SessionError.missing) = state.state else { throw SessionError.expired }
    try await client.saveSession(AuthTokens(access: "token", refresh: "r"))
    await state.loadData()
    guard case .loaded("profile") = state.state else { throw SessionError.expired }
}

/// Counts on any thread.
private final class Attempts: Sendable {
    private let number = Mutex(0)

    func next() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }
    var count: Int { number.withLock { $0 } }
}
