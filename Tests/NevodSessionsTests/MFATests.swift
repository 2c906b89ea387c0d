import Foundation
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

struct MFATests {
    private struct Credentials: Codable, Sendable {
        var email: String
        var password: String
    }

    private struct Code: Codable, Sendable {
        var sessionId: String
        var code: String
    }

    private struct LoginSuccess: Decodable, AuthTokensConvertible {
        var accessToken: String
        var refreshToken: String

        var authTokens: AuthTokens { AuthTokens(access: accessToken, refresh: refreshToken) }
    }

    private struct LoginError: MFAChallengeConvertible {
        var code: String
        var message: String?
        var sessionId: String?
        var mfaChallenge: MFAChallenge?
        var attemptsLeft: Int?

        var mfaStatus: MFAStatus? {
            switch code {
            case "MFA_REQUIRED": .required(challenge: mfaChallenge ?? MFAChallenge(), sessionId: sessionId ?? "")
            case "MFA_WRONG": .wrongCode(attemptsLeft: attemptsLeft)
            case "MFA_EXPIRED": .expired
            default: nil
            }
        }
    }

    /// Logs in with a password and, for most users, with the code 123456, which works once for each login.
    fileprivate final class Server: Sendable {
        struct State {
            var number = 0
            var open: [String: Int] = [:]
            /// Blocks the next requests with a code.
            var gate: Latch?
        }

        /// Outlives the server while a connection is served.
        private final class Shared: Sendable {
            let state = Locked(State())
        }

        private let shared = Shared()
        let service: Service

        init() throws {
            let shared = shared
            service = try Service { request, _ in
                if request.path == "/auth/mfa/verify", let gate = shared.state.withLock({ $0.gate }) { gate.waitOnThread() }
                return shared.state.withLock { $0.respond(to: request) }
            }
        }

        func expireChallenges() { shared.state.withLock { $0.open = [:] } }
        func block(_ gate: Latch) { shared.state.withLock { $0.gate = gate } }
        var codes: [Service.Request] { service.log.filter { $0.path == "/auth/mfa/verify" } }
    }

    private let server: Server
    private let app: JWTApp
    private let login: MFAAuthClient<Credentials, LoginSuccess, LoginError>

    init() throws {
        server = try Server()
        app = JWTApp(server.service.url)
        login = Self.login(app.client)
    }

    private static func login(_ client: JWTAuthClient) -> MFAAuthClient<Credentials, LoginSuccess, LoginError> {
        MFAAuthClient(
            client: client, failure: LoginError.self, login: { .post("/auth/login").body($0).auth(.bearerToken) },
            verify: { .post("/auth/mfa/verify").body(Code(sessionId: $0, code: $1)) })
    }

    /// Logs in up to the second factor.
    private func challenge(_ email: String = "ada") async throws -> String {
        let result = try await login.loginWithMFA(credentials: Credentials(email: email, password: "secret"))
        guard case .mfaRequired(let challenge, let sessionId) = result else { throw NetworkError.parsingError }
        #expect(challenge.method == "totp" && challenge.expiresAt == Date(timeIntervalSince1970: 2_000_000_000))
        return sessionId
    }

    private var stored: String? {
        get async throws { try await app.storage.load()?.tokens.access }
    }

    @Test func `The right code logs in, and no request carries a token`() async throws {
        try await app.client.saveSession(AuthTokens(access: "old", refresh: "r"))
        let sessionId = try await challenge()
        #expect(try await stored == "old")
        let tokens = try await login.completeMFAChallenge(sessionId: sessionId, code: "123456")
        #expect(try await stored == tokens.access && tokens.access == "access-ada-2")
        #expect(server.service.log.allSatisfy { $0.header("Authorization") == nil })
        let result = try await login.loginWithMFA(credentials: Credentials(email: "nofactor", password: "secret"))
        #expect(result == .success(try #require(try await app.storage.load()).tokens))
    }

    @Test func `A wrong password is the service's own error`() async throws {
        let error = await #expect(throws: FailureResponse<LoginError>.self) {
            try await login.loginWithMFA(credentials: Credentials(email: "ada", password: "wrong"))
        }
        #expect(error?.code == "WRONG_PASSWORD" && error?.status == 401)
        #expect(try await app.storage.load() == nil)
    }

    @Test func `A wrong code can be corrected, until there were too many`() async throws {
        var sessionId = try await challenge()
        await #expect(throws: MFAError.wrongCode(attemptsLeft: 2)) {
            try await login.completeMFAChallenge(sessionId: sessionId, code: "000000")
        }
        #expect(try await stored == nil)
        #expect(try await login.completeMFAChallenge(sessionId: sessionId, code: "123456").access == "access-ada-2")
        sessionId = try await challenge()
        for left in [2, 1, 0] {
            await #expect(throws: MFAError.wrongCode(attemptsLeft: left)) {
                try await login.completeMFAChallenge(sessionId: sessionId, code: "000000")
            }
        }
        await #expect(throws: MFAError.expired) {
            try await login.completeMFAChallenge(sessionId: sessionId, code: "123456")
        }
        #expect(try await stored == "access-ada-2")
    }

    @Test func `An expired challenge needs another login`() async throws {
        let sessionId = try await challenge()
        server.expireChallenges()
        await #expect(throws: MFAError.expired) {
            try await login.completeMFAChallenge(sessionId: sessionId, code: "123456")
        }
        let next = try await challenge()
        #expect(next != sessionId)
        #expect(try await login.completeMFAChallenge(sessionId: next, code: "123456").access.hasPrefix("access-ada"))
    }

    @Test func `A login that waits for its code is superseded`() async throws {
        // Replaced by another login that has stored its session, in whatever way.
        var sessionId = try await challenge()
        try await app.storage.saveTokens(AuthTokens(access: "bob", refresh: "r"))
        await #expect(throws: MFAError.superseded) {
            try await login.completeMFAChallenge(sessionId: sessionId, code: "123456")
        }
        // This stays so, however often it is tried.
        await #expect(throws: MFAError.superseded) {
            try await login.completeMFAChallenge(sessionId: sessionId, code: "123456")
        }
        #expect(try await stored == "bob" && server.codes.isEmpty)
        // Replaced by a logout.
        sessionId = try await challenge()
        try await app.client.clearSession()
        await #expect(throws: MFAError.superseded) {
            try await login.completeMFAChallenge(sessionId: sessionId, code: "123456")
        }
        #expect(try await stored == nil)
        // Replaced by a logout, although nothing was stored.
        sessionId = try await challenge()
        try await app.storage.clearAll()
        await #expect(throws: MFAError.superseded) {
            try await login.completeMFAChallenge(sessionId: sessionId, code: "123456")
        }
        // Replaced by another login in progress, even another client's.
        sessionId = try await challenge()
        let other = try await Self.login(JWTApp(server.service.url).client)
            .loginWithMFA(credentials: Credentials(email: "bob", password: "secret"))
        guard case .mfaRequired = other else { throw NetworkError.parsingError }
        #expect(try await login.completeMFAChallenge(sessionId: sessionId, code: "123456").access.hasPrefix("access-ada"))
        sessionId = try await challenge()
        let newer = try await challenge("eve")
        await #expect(throws: MFAError.superseded) {
            try await login.completeMFAChallenge(sessionId: sessionId, code: "123456")
        }
        #expect(try await login.completeMFAChallenge(sessionId: newer, code: "123456").access.hasPrefix("access-eve"))
    }

    @Test func `A login whose response comes too late is superseded`() async throws {
        let sessionId = try await challenge()
        let gate = Latch()
        server.block(gate)
        let late = Task { try await login.completeMFAChallenge(sessionId: sessionId, code: "123456") }
        #expect(await eventually { server.codes.count == 1 })
        try await app.storage.saveTokens(AuthTokens(access: "bob", refresh: "r"))
        gate.set()
        await #expect(throws: MFAError.superseded) { try await late.value }
        #expect(try await stored == "bob")
    }

    @Test func `The removal of another session supersedes nothing`() async throws {
        let sessionId = try await challenge()
        #expect(try await !app.storage.clear(SessionIdentifier("another")))
        #expect(try await login.completeMFAChallenge(sessionId: sessionId, code: "123456").access == "access-ada-2")
    }

    @Test func `A renewal of the old session supersedes nothing`() async throws {
        try await app.client.saveSession(AuthTokens(access: "old", refresh: "r"))
        let sessionId = try await challenge()
        let version = try await app.storage.tokens.storage.current().version
        try await app.storage.tokens.storage.save(AuthTokens(access: "renewed", refresh: "r2"), replacing: version)
        #expect(try await login.completeMFAChallenge(sessionId: sessionId, code: "123456").access == "access-ada-2")
        #expect(try await stored == "access-ada-2")
    }

    @Test func `The same code twice at once is sent once, even if the first caller leaves`() async throws {
        let sessionId = try await challenge()
        let gate = Latch()
        server.block(gate)
        let first = Task { try await login.completeMFAChallenge(sessionId: sessionId, code: "123456") }
        #expect(await eventually { server.codes.count == 1 })
        let second = Task { try await login.completeMFAChallenge(sessionId: sessionId, code: "123456") }
        #expect(await eventually { login.waitingCount == 2 })
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.set()
        #expect(try await second.value.access == "access-ada-2" && server.codes.count == 1)
        #expect(try await stored == "access-ada-2")
    }

    @Test func `Two codes at once leave one session`() async throws {
        let sessionId = try await challenge()
        let outcomes = await withTaskGroup(of: Result<AuthTokens, any Error>.self) { group in
            for code in ["123456", "000000"] {
                group.addTask {
                    do {
                        return .success(try await login.completeMFAChallenge(sessionId: sessionId, code: code))
                    } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let tokens = outcomes.compactMap { try? $0.get() }
        let (kept, count) = (try await stored, server.codes.count)
        #expect(tokens.count == 1 && kept == tokens.first?.access && count == 2)
    }

    @Test func `A login from before a restart is completed all the same`() async throws {
        let sessionId = try await challenge()
        let restarted = Self.login(app.client)
        #expect(try await restarted.completeMFAChallenge(sessionId: sessionId, code: "123456").access == "access-ada-2")
    }

    @Test func `One factor may follow another`() async throws {
        var sessionId = try await challenge("two")
        let error = await #expect(throws: MFAError.self) {
            try await login.completeMFAChallenge(sessionId: sessionId, code: "123456")
        }
        guard case .furtherChallenge(let challenge, let next) = error else { throw try #require(error) }
        #expect(challenge.method == "sms" && next != sessionId)
        sessionId = next
        #expect(try await login.completeMFAChallenge(sessionId: sessionId, code: "123456").access == "access-two-3")
    }

    @Test func `A state shows the login`() async throws {
        struct Service: AuthServicing {
            func login(email: String, password: String) async throws -> AuthResponse { throw NetworkError.unauthorized }
            func register(email: String, password: String, name: String) async throws -> AuthResponse {
                throw NetworkError.unauthorized
            }
            func logout() async throws {}
            func fetchUser() async throws -> User { User(id: 7, email: "ada") }
        }
        let state = await AuthState(service: Service(), tokenStorage: app.storage)
        let sessionId = try await challenge()
        let login = login
        func enter(_ code: String) async {
            await state.login {
                let tokens = try await login.completeMFAChallenge(sessionId: sessionId, code: code)
                return UserSession<User>(tokens: tokens, user: nil)
            }
        }
        await enter("000000")
        #expect(await state.error == .other(MFAError.wrongCode(attemptsLeft: 2)))
        await enter("123456")
        #expect(await state.user?.id == 7)
        #expect(await state.error == nil)
        #expect(try await stored == "access-ada-2")
    }

    @Test func `Nothing prints a code, a token or the identifier of a login`() async throws {
        let sessionId = try await challenge()
        let challenge = MFAChallenge(method: "sms", destination: "+48 600")
        let values: [Any] = [
            AuthResult.mfaRequired(challenge: challenge, sessionId: sessionId),
            MFAStatus.required(challenge: challenge, sessionId: sessionId),
            MFAError.furtherChallenge(challenge: challenge, sessionId: sessionId), MFAError.wrongCode(attemptsLeft: 1),
            AuthResult.success(AuthTokens(access: "access-ada", refresh: "r")),
        ]
        for value in values {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains(sessionId) && !text.contains("600") && !text.contains("access-ada"))
        }
    }
}

extension MFATests.Server.State {
    fileprivate mutating func respond(to request: Service.Request) -> Service.Answer {
        func tokens(_ email: String) -> Service.Answer {
            number += 1
            return .json(#"{"accessToken": "access-\#(email)-\#(number)", "refreshToken": "refresh-\#(number)"}"#)
        }
        func challenge(_ email: String, _ method: String) -> Service.Answer {
            number += 1
            let id = "login-\(number)-\(email)"
            open[id] = 3
            let challenge = #"{"method": "\#(method)", "expiresAt": "2033-05-18T03:33:20Z"}"#
            return .json(#"{"code": "MFA_REQUIRED", "sessionId": "\#(id)", "mfaChallenge": \#(challenge)}"#, status: 403)
        }
        if request.path == "/auth/login" {
            guard let email = request.json("email"), request.json("password") == "secret" else {
                return .json(#"{"code": "WRONG_PASSWORD"}"#, status: 401)
            }
            return email == "nofactor" ? tokens(email) : challenge(email, "totp")
        }
        guard let id = request.json("sessionId"), let left = open[id], left > 0,
            let email = id.split(separator: "-").last.map(String.init)
        else { return .json(#"{"code": "MFA_EXPIRED"}"#, status: 410) }
        guard request.json("code") == "123456" else {
            open[id] = left - 1
            return .json(#"{"code": "MFA_WRONG", "attemptsLeft": \#(left - 1)}"#, status: 401)
        }
        open[id] = nil
        if email == "two", number == 1 { return challenge(email, "sms") }
        return tokens(email)
    }
}
