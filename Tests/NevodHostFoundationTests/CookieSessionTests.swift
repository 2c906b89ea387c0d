import Foundation
import NevodHostFoundation
import NevodTestSupport
import Testing

struct CookieSessionTests {
    @Test func `A redirect to the login page starts a login, for requests that need one`() async throws {
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let isGood = request.head.contains("\r\nCookie: sid=new\r\n")
                let head = isGood ? "HTTP/1.1 200 OK" : "HTTP/1.1 302 Found\r\nLocation: /login"
                connection.write("\(head)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let storage = TokenStorage<CookieToken>(storage: InMemoryStorage())
        func session(_ id: String) throws -> CookieToken {
            CookieToken(sessionCookies: [try #require(Cookie(name: "sid", value: id, domain: "127.0.0.1"))])
        }
        try await storage.save(session("old"))
        let new = try session("new")
        let interceptor = CookieAuthenticationInterceptor(
            cookieStorage: storage, loginStrategy: { new },
            shouldAuthenticate: { $0.url?.path.hasPrefix("/orders") ?? false },
            isSessionOver: { $0.status == 302 && $0.headers["Location"] == "/login" })
        let provider = NetworkProvider(session: CurlSession(), interceptor: interceptor)
        let options = RequestOptions(redirects: .none)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/other"), options).status == 302)
        #expect(try await storage.load() == session("old"))
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/orders"), options).status == 200)
        #expect(try await storage.load() == new)
    }
}
