import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests over real HTTP, against a server with sessions.
struct CookieAuthenticationInterceptorTests {
    /// A server that accepts only the latest session, `s<n>`.
    private final class SessionServer: Sendable {
        struct State {
            var session = 0
            var logins = 0
            var cookies: [String] = []
            /// An extra header line of every successful response.
            var line = ""
        }

        private final class Box: Sendable { let value = Locked(State()) }
        private let box = Box()
        private let server: RawServer
        var url: String { server.url }
        var state: State { box.value.withLock { $0 } }

        init(redirectsToLogin: Bool = false) throws {
            let box = box
            server = try RawServer { connection, _ in
                while let request = connection.readRequest() {
                    let response = box.value.withLock { state -> String in
                        if request.head.hasPrefix("POST /login ") {
                            state.logins += 1
                            state.session += 1
                            return "HTTP/1.1 200 OK\r\nSet-Cookie: sid=s\(state.session); Path=/; HttpOnly\r\n"
                        }
                        if request.head.hasPrefix("GET /login ") { return "HTTP/1.1 200 OK\r\n" }
                        let cookie = request.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("cookie:") }
                        state.cookies.append(cookie.map { String($0.dropFirst(8)) } ?? "")
                        guard state.cookies.last?.contains("sid=s\(state.session)") == true, state.session > 0 else {
                            return redirectsToLogin
                                ? "HTTP/1.1 302 Found\r\nLocation: /login\r\n" : "HTTP/1.1 401 No\r\n"
                        }
                        return "HTTP/1.1 200 OK\r\n\(state.line)"
                    }
                    connection.write(response + "Content-Length: 0\r\n\r\n")
                }
            }
        }

        func end() { box.value.withLock { $0.session += 1 } }
        func respond(with line: String) { box.value.withLock { $0.line = line } }

        @Sendable func login() async throws -> CookieToken {
            let request = try HTTPRequest(.post, "\(url)/login")
            let response = try await NetworkProvider(session: CurlSession()).send(request)
            let empty = CookieToken(sessionCookies: [])
            guard
                let token = empty.merging(
                    setCookiesOf: response, to: request, now: HostClock.system.now, addingNew: true)
            else { throw NetworkError.unauthorized }
            return token
        }
    }

    private let storage = TokenStorage<CookieToken>(storage: InMemoryStorage())

    private func provider(_ server: SessionServer) -> NetworkProvider {
        NetworkProvider(
            session: CurlSession(),
            interceptor: CookieAuthenticationInterceptor(cookieStorage: storage, loginStrategy: server.login))
    }

    @Test func `A login precedes the first request, and follows the end of the session`() async throws {
        let server = try SessionServer()
        let provider = provider(server)
        let request = try HTTPRequest(.get, "\(server.url)/a")
        #expect(try await provider.send(request).status == 200)
        #expect(try await provider.send(request).status == 200)
        #expect(server.state.cookies == ["sid=s1", "sid=s1"])
        server.end()
        #expect(try await provider.send(request).status == 200)
        #expect(server.state.cookies == ["sid=s1", "sid=s1", "sid=s1", "sid=s3"])
        #expect(server.state.logins == 2)
    }

    @Test func `100 requests across the end of a session: one login`() async throws {
        let server = try SessionServer()
        let provider = provider(server)
        let request = try HTTPRequest(.get, "\(server.url)/a")
        #expect(try await provider.send(request).status == 200)
        server.end()
        let statuses = try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await provider.send(request).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
        #expect(server.state.logins == 2)
    }

    @Test func `A redirect to the login page can mean that the session has ended`() async throws {
        let server = try SessionServer(redirectsToLogin: true)
        let provider = NetworkProvider(
            session: CurlSession(),
            interceptor: CookieAuthenticationInterceptor(
                cookieStorage: storage, loginStrategy: server.login,
                isSessionOver: { $0.status == 302 && $0.headers["Location"]?.hasSuffix("/login") == true }))
        let request = try HTTPRequest(.get, "\(server.url)/a")
        _ = try await provider.send(request)
        server.end()
        #expect(try await provider.send(request).status == 200)
        #expect(server.state.cookies.last == "sid=s3")
    }

    @Test func `Cookies of the session that a response sets are taken over; others are not`() async throws {
        let server = try SessionServer()
        let provider = provider(server)
        let request = try HTTPRequest(.get, "\(server.url)/a")
        _ = try await provider.send(request)
        server.respond(with: "Set-Cookie: sid=s1.moved; Path=/\r\nSet-Cookie: tracker=1; Path=/\r\n")
        _ = try await provider.send(request)
        #expect(try await storage.load()?.sessionCookies.map(\.value) == ["s1.moved"])
        server.respond(with: "")
        _ = try await provider.send(request)
        #expect(server.state.cookies.last == "sid=s1.moved")
    }

    @Test func `An expiry that every response extends is not saved every time`() async throws {
        let server = try SessionServer()
        let provider = provider(server)
        let request = try HTTPRequest(.get, "\(server.url)/a")
        server.respond(with: "Set-Cookie: sid=s1; Path=/; Max-Age=3600\r\n")
        _ = try await provider.send(request)
        let version = try await storage.current().version
        #expect(try await storage.load()?.sessionCookies[0].expires != nil)
        server.respond(with: "Set-Cookie: sid=s1; Path=/; Max-Age=3610\r\n")
        _ = try await provider.send(request)
        #expect(try await storage.current().version == version)
        server.respond(with: "Set-Cookie: sid=s1; Path=/; Max-Age=7200\r\n")
        _ = try await provider.send(request)
        #expect(try await storage.current().version != version)
    }

    @Test func `A request whose login fails is not sent`() async throws {
        let server = try SessionServer()
        let provider = NetworkProvider(
            session: CurlSession(),
            interceptor: CookieAuthenticationInterceptor(
                cookieStorage: storage, loginStrategy: { throw NetworkError.unauthorized }))
        await #expect(throws: NetworkError.unauthorized) {
            try await provider.send(HTTPRequest(.get, "\(server.url)/a"))
        }
        #expect(server.state.cookies.isEmpty)
    }
}
