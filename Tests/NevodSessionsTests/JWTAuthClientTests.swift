import Foundation
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

struct JWTAuthClientTests {
    private struct Problem: Codable, Sendable, Hashable {
        var code: String
        var message: String
    }

    private let backend: Backend
    private let app: JWTApp

    init() throws {
        backend = try Backend()
        backend.issueJWT()
        app = JWTApp(backend.url)
    }

    private func sports() async throws -> SuccessResponse<[Sport]> { try await app.client.sendAuthenticated(.get("/sports")) }

    @Test func `A login carries no token, even if one is stored, and other requests do`() async throws {
        let tokens = try await app.logIn()
        try await app.logIn("bob@example.com")
        #expect(backend.log.map(\.bearer) == [nil, nil])
        let response = try await sports()
        #expect(response.data == [Sport(name: "ski"), Sport(name: "surf")] && response.count == 2)
        #expect(response.status == 200 && response.headers["Content-Type"] == "application/json")
        // Like any client of endpoints, it sends them unchanged.
        let client: any APIClienting = app.client
        #expect(try await client.send(API.me()).email == "bob@example.com")
        let stored = try await app.client.loadSession()
        #expect(backend.log.suffix(2).map(\.bearer) == [stored.tokens?.access, stored.tokens?.access])
        #expect(stored.isValid && stored.tokens != tokens && stored.tokens?[string: "user_id"] == "bob@example.com")
    }

    @Test func `Without a session nothing is sent`() async throws {
        await #expect(throws: SessionError.missing) { try await sports() }
        await #expect(throws: SessionError.missing) {
            let _: Response<[Sport], Problem> = try await app.client.sendAuthenticated(.get("/sports"))
        }
        await #expect(throws: SessionError.missing) {
            try await app.client.sendAuthenticated(.get("/sports"), refreshExpiredToken: false) as SuccessResponse<[Sport]>
        }
        let error = await #expect(throws: NetworkError.self) { try await app.client.send(API.sports()) }
        #expect(error?.underlying as? SessionError == .missing)
        #expect(AuthError(SessionError.missing, isLogin: false) == .sessionExpired)
        #expect(AuthError(try #require(error), isLogin: false) == .sessionExpired)
        #expect(backend.log.isEmpty)
    }

    @Test func `Errors are equal if they are the same case for the same reason`() {
        let timeout: NetworkError = .timeout
        #expect(AuthError.offline(timeout) == .offline(timeout) && AuthError.sessionExpired == .sessionExpired)
        #expect(AuthError.offline(timeout) != .offline(NetworkError.cancelled))
        #expect(AuthError.server(timeout) != .other(timeout))
        // An app shows this text, and doesn't log the user out.
        struct Notice: Error, CustomStringConvertible {
            var description: String { "\(AuthError.sessionExpired)" }
        }
        #expect(AuthError.other(Notice()) != .sessionExpired)
    }

    @Test func `An expired token is renewed first, once for 100 requests`() async throws {
        backend.setLifetime(-10)
        let old = try await app.logIn()
        #expect(try await app.client.loadSession() == .expired(old))
        backend.setLifetime(3600)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await sports().data.count } }
            for try await count in group { #expect(count == 2) }
        }
        #expect(backend.requests(to: "/auth/refresh").count == 1)
        let new = try #require(try await app.client.loadSession().tokens)
        #expect(new != old && backend.requests(to: "/sports").allSatisfy { $0.bearer == new.access })
        #expect(backend.requests(to: "/sports").count == 100)
    }

    @Test func `A refused token is renewed once for 100 requests`() async throws {
        try await app.logIn()
        backend.expireAccessTokens()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await sports().data.count } }
            for try await count in group { #expect(count == 2) }
        }
        #expect(backend.requests(to: "/auth/refresh").count == 1)
    }

    @Test func `A request may be told not to renew`() async throws {
        func send() async throws -> SuccessResponse<[Sport]> {
            try await app.client.sendAuthenticated(.get("/sports"), refreshExpiredToken: false)
        }
        let tokens = try await app.logIn()
        #expect(try await send().data.count == 2)
        #expect(backend.log.last?.bearer == tokens.access)
        backend.expireAccessTokens()
        await #expect(throws: NetworkError.unauthorized) { try await send() }
        backend.setLifetime(-10)
        try await app.logIn()
        let sent = backend.log.count
        await #expect(throws: SessionError.expired) { try await send() }
        #expect(backend.log.count == sent && backend.requests(to: "/auth/refresh").isEmpty)
        #expect(try await app.client.loadSession().isExpired)
    }

    @Test func `A renewal ends in one of four ways`() async throws {
        let ended = Latch()
        let app = JWTApp(backend.url) { ended.set() }
        #expect(try await app.client.refreshExpiredTokens() == .missing)
        backend.setLifetime(3600)
        let valid = try await app.logIn()
        #expect(try await app.client.refreshExpiredTokens() == .valid(valid))
        #expect(backend.requests(to: "/auth/refresh").isEmpty)
        backend.setLifetime(-10)
        let old = try await app.logIn()
        // Without a network, the session stays, however often this is tried.
        backend.setRefresh(.offline)
        for round in 1...2 {
            let error = await #expect(throws: NetworkError.self) { try await app.client.refreshExpiredTokens() }
            #expect(error == .authenticationFailed)
            #expect(try await app.client.loadSession() == .expired(old))
            #expect(backend.requests(to: "/auth/refresh").count == round)
        }
        backend.setRefresh(.works)
        backend.setLifetime(3600)
        let sessions = try await withThrowingTaskGroup(of: AuthSession.self) { group in
            for _ in 0..<20 { group.addTask { try await app.client.refreshExpiredTokens() } }
            return try await group.reduce(into: Set<AuthSession>()) { $0.insert($1) }
        }
        #expect(sessions.count == 1 && sessions.first?.isValid == true && sessions.first?.tokens != old)
        #expect(backend.requests(to: "/auth/refresh").count == 3)
        backend.setLifetime(-10)
        try await app.logIn()
        backend.setRefresh(.refused)
        #expect(try await app.client.refreshExpiredTokens() == .missing)
        #expect(try await app.storage.load() == nil)
        await ended.wait()
    }

    @Test func `The sessions are reported one after another`() async throws {
        var sessions = app.client.sessions.makeAsyncIterator()
        #expect(await sessions.next() == .missing)
        backend.setLifetime(-10)
        let expired = try await app.logIn()
        #expect(await sessions.next() == .expired(expired))
        backend.setLifetime(3600)
        _ = try await sports()
        let renewed = await sessions.next()
        #expect(renewed?.isValid == true)
        try await app.client.clearSession()
        #expect(await sessions.next() == .missing)
        // A later reader begins with the stored session.
        try await app.logIn()
        var others = app.client.sessions.makeAsyncIterator()
        #expect(await others.next()?.isValid == true)
    }

    @Test func `A service describes its errors`() async throws {
        let service = try Service { request, _ in
            switch request.path {
            case "/wrong": .json(#"{"code": "NO", "message": "not now"}"#, status: 422)
            case "/refused": .json(#"{"code": "WHO", "message": "log in"}"#, status: 401)
            case "/broken": .json("<html>", status: 502, headers: "Retry-After: 7\r\n")
            case "/other": .json(#"{"something": "else"}"#)
            default: .json(#"{"name": "ski"}"#, status: 201, headers: "X-Kind: new\r\n")
            }
        }
        let client = JWTApp(service.url).client
        func send(_ path: EndpointPath) async throws -> Response<Sport, Problem> { try await client.send(.get(path)) }

        guard case .success(let success) = try await send("/right") else { throw NetworkError.parsingError }
        #expect(success.name == "ski" && success.data == Sport(name: "ski"))
        #expect(success.status == 201 && success.headers["X-Kind"] == "new")
        #expect(try await send("/right").get().name == "ski")

        for (path, status, code) in [("/wrong", 422, "NO"), ("/refused", 401, "WHO")] as [(EndpointPath, Int, String)] {
            guard case .failure(let failure) = try await send(path) else { throw NetworkError.parsingError }
            #expect(failure.code == code && failure.status == status && failure.error.code == code)
            #expect(failure.headers?["Content-Type"] == "application/json" && failure.networkError.statusCode == status)
            let thrown = await #expect(throws: FailureResponse<Problem>.self) { try await send(path).get() }
            #expect(thrown?.message == failure.message)
            let shown = AuthError(failure, isLogin: true)
            #expect(shown == (status == 401 ? .invalidCredentials : .server(failure.networkError)))
            var text = "\(failure) \(String(reflecting: failure))"
            dump(failure, to: &text)
            #expect(!text.contains(failure.message) && text.contains(status == 401 ? "401" : "422"))
        }

        // A body that isn't the service's error, such as a proxy's, isn't a failure of the service.
        let broken = await #expect(throws: NetworkError.self) { try await send("/broken") }
        #expect(broken == .serverError(502) && broken?.responseString == "<html>")
        #expect(broken?.response?.headers["Retry-After"] == "7")
        let other = await #expect(throws: NetworkError.self) { try await send("/other") }
        #expect(other == .parsingError(NetworkError.cancelled, data: nil, response: try #require(other?.response)))
        await #expect(throws: NetworkError.clientError(422)) { try await client.send(.get("/wrong")) as SuccessResponse<Sport> }
        #expect(service.log.allSatisfy { $0.header("Authorization") == nil })
    }

    @Test func `A response prints no token`() async throws {
        let response: SuccessResponse<AuthResponse> = try await app.client.send(API.login("ada@example.com"))
        var text = "\(response) \(String(reflecting: response)) \(Response<AuthResponse, Problem>.success(response))"
        dump(response, to: &text)
        #expect(!text.contains(response.tokens.access) && !text.contains("ada") && text.contains("200"))
    }

    @Test func `A response need not be decoded`() async throws {
        try await app.logIn()
        let response = try await app.client.sendAuthenticated(.get("/sports"))
        #expect(String(decoding: response.data, as: UTF8.self).hasPrefix(#"[{"name""#))
    }
}
