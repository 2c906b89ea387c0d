import NevodTestSupport
import Testing

@testable import NevodHost

struct CookieTokenTests {
    private func token(_ lines: String..., from url: String = "https://www.example.com/app/login") throws -> CookieToken {
        var jar = CookieJar()
        jar.store(setCookieLinesOf: response(setting: lines), from: try get(url), now: cookieTime)
        return CookieToken(jar: jar)
    }

    private func cookieLine(_ token: CookieToken, for url: String, now: UnixTime = cookieTime) throws -> String? {
        var request = try get(url)
        try token.authorize(&request, now: now)
        return request.headers["Cookie"]
    }

    @Test func `Each cookie goes where it belongs`() throws {
        let token = try token(
            "host=1; Path=/", "wide=2; Path=/; Domain=example.com", "app=3", "secure=4; Path=/; Secure",
            "brief=5; Path=/; Max-Age=60")
        #expect(try cookieLine(token, for: "https://www.example.com/app/x") == "app=3; host=1; wide=2; secure=4; brief=5")
        #expect(try cookieLine(token, for: "https://www.example.com/") == "host=1; wide=2; secure=4; brief=5")
        #expect(try cookieLine(token, for: "http://www.example.com/") == "host=1; wide=2; brief=5")
        #expect(try cookieLine(token, for: "https://api.example.com/app/") == "wide=2")
        #expect(try cookieLine(token, for: "https://evil.com/app/") == nil)
        #expect(
            try cookieLine(token, for: "https://www.example.com/", now: cookieTime + .seconds(60)) == "host=1; wide=2; secure=4")
    }

    @Test func `The wall clock tells what has expired`() throws {
        let now = HostClock.system.now
        let cookies = [("old", now - .seconds(60)), ("new", now + .seconds(3600))].compactMap {
            Cookie(name: $0.0, value: "1", domain: "h", expires: $0.1)
        }
        var request = try get("http://h/")
        try CookieToken(sessionCookies: cookies).authorize(&request)
        #expect(request.headers["Cookie"] == "new=1")
    }

    @Test func `The cookies that a token writes are redacted, and stripped on a redirect`() async throws {
        var exchange = Exchange(request: try get("https://www.example.com/app/"), options: TransferOptions(), attempt: 1)
        try exchange.request.setCookie("mine", "0")
        try exchange.request.setCookie("app", "old")
        let token = try token("app=hidden")
        try await token.authorize(&exchange)
        #expect(exchange.request.headers["Cookie"] == "mine=0; app=hidden")
        #expect(exchange.request.headers.map(\.provenance) == [.token("CookieToken")])
        #expect(exchange.request.redactedHead.last == "Cookie: [redacted: token CookieToken]")
        try await token.authorize(&exchange)
        #expect(exchange.request.headers["Cookie"] == "mine=0; app=hidden")
        exchange.request.stripCredentials()
        #expect(exchange.request.headers.isEmpty)

        var dumped = ""
        dump(token, to: &dumped)
        #expect(!dumped.contains("hidden") && !"\(token)".contains("hidden"))
    }

    @Test func `A token without a cookie for the request leaves it alone`() async throws {
        var exchange = Exchange(request: try get("https://other.com/"), options: TransferOptions(), attempt: 1)
        try exchange.request.setCookie("mine", "0")
        try await token("app=1").authorize(&exchange)
        #expect(exchange.request.headers.map(\.provenance) == [.caller])
        #expect(exchange.request.headers["Cookie"] == "mine=0")
    }

    @Test func `Values go back as they came`() throws {
        let token = try token("a=\"x, y\"", "b=c d=e", "c=ä", "app=1", "app=2; Path=/")
        #expect(try cookieLine(token, for: "https://www.example.com/app/") == "a=\"x, y\"; b=c d=e; c=ä; app=1; app=2")
    }

    @Test func `A token survives its storage`() throws {
        let token = try token("z=1", "a=2; Domain=example.com; Secure; HttpOnly", "m=3; Max-Age=60")
        let read = try CookieToken.decode(from: token.encode())
        #expect(read.sessionCookies.map(\.name) == ["z", "a", "m"])
        #expect(try read.encode() == token.encode())
        #expect(
            try cookieLine(read, for: "https://www.example.com/app/") == cookieLine(token, for: "https://www.example.com/app/"))
        #expect(throws: CookieFileError(line: 1)) { try CookieToken.decode(from: Array("hidden".utf8)) }
    }

    /// Cookies don't distinguish ports (RFC 6265 §8.5), but credentials stay at their origin: a redirect to another port gets
    /// none.
    @Test func `A server receives the token's cookies and sets new ones`() async throws {
        @Sendable func echo(_ head: String) -> String {
            let body = head.split(separator: "\r\n").filter { $0.hasPrefix("Cookie: ") }.joined()
            return "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        let other = try RawServer { connection, _ in
            while let request = connection.readRequest() { connection.write(echo(request.head)) }
        }
        let elsewhere = other.url
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                switch request.head.split(separator: " ")[1] {
                case "/login":
                    connection.write(
                        "HTTP/1.1 200 OK\r\nSet-Cookie: a=\"1, 2\"; HttpOnly\r\nset-cookie: b=2; Path=/app\r\n"
                            + "Content-Length: 0\r\n\r\n")
                case "/away": connection.write("HTTP/1.1 302 Found\r\nLocation: \(elsewhere)/app\r\nContent-Length: 0\r\n\r\n")
                default: connection.write(echo(request.head))
                }
            }
        }
        let session = CurlSession()
        let login = try get(server.url + "/login")
        let response = try await NetworkProvider(session: session).send(login)
        let token = try #require(
            CookieToken(sessionCookies: []).merging(setCookiesOf: response, to: login, now: cookieTime, addingNew: true))
        let provider = NetworkProvider(session: session, interceptor: TokenInterceptor(token))
        for (url, cookies) in [
            (server.url + "/app", "Cookie: b=2; a=\"1, 2\""), (server.url + "/", "Cookie: a=\"1, 2\""),
            (server.url + "/away", ""),
        ] {
            let body = try await provider.send(get(url)).body.collect()
            #expect(String(decoding: body, as: UTF8.self) == cookies)
        }
    }

    // MARK: Merging

    private func merged(
        _ token: CookieToken, _ lines: String..., url: String = "https://www.example.com/app/x", addingNew: Bool = false
    ) throws -> CookieToken? {
        token.merging(
            setCookiesOf: response(setting: lines), to: try get(url), now: cookieTime + .seconds(1), addingNew: addingNew)
    }

    @Test func `A response replaces and deletes cookies of the token`() throws {
        let token = try token("a=1", "b=2", "c=3")
        #expect(try merged(token, "b=9")?.sessionCookies.map(\.value) == ["1", "9", "3"])
        #expect(try merged(token, "a=; Max-Age=0", "c=4")?.sessionCookies.map(\.name) == ["b", "c"])
        #expect(try merged(token, "a=9; Max-Age=60")?.sessionCookies.first?.expires == cookieTime + .seconds(61))
        #expect(try merged(token, "a=; Max-Age=0", "b=; Max-Age=0", "c=; Max-Age=0")?.sessionCookies.isEmpty == true)
    }

    @Test func `A response that changes nothing leaves the token equal`() throws {
        let token = try token("a=1", "b=2; Secure; Max-Age=0", "old=1; Max-Age=1")
        #expect(try merged(token) == nil)
        #expect(try merged(token, "a=1") == nil)
        #expect(try merged(token, "other=1", "a=2; Path=/", "a=2; Domain=example.com", "a=2; Max-Age=0; Path=/") == nil)
        #expect(try merged(token, "a=2", url: "https://evil.com/app/") == nil)
        #expect(try merged(token, "a=2; Domain=www.example.com", url: "https://evil.example.com/app/") == nil)
        #expect(try merged(token, "a") == nil)
    }

    @Test func `A login takes over all cookies of the response`() throws {
        let empty = CookieToken(sessionCookies: [])
        #expect(try merged(empty, "a=1", "b=2; Path=/", addingNew: true)?.sessionCookies.map(\.value) == ["1", "2"])
        #expect(try merged(empty, "a=1; Domain=com", "b=2; Max-Age=0", addingNew: true) == nil)
        #expect(try merged(token("a=1"), "b=2", addingNew: true)?.sessionCookies.map(\.name) == ["a", "b"])
    }

    @Test func `A cookie set over HTTP doesn't replace a secure one`() throws {
        let token = try token("a=1; Secure")
        #expect(try merged(token, "a=2", url: "http://www.example.com/app/") == nil)
        #expect(try merged(token, "a=; Max-Age=0", url: "http://www.example.com/app/") == nil)
        #expect(try merged(token, "a=2; Secure")?.sessionCookies.map(\.value) == ["2"])
    }

    @Test func `A merged token keeps its order after storage`() throws {
        let stored = try CookieToken.decode(from: token("a=1", "b=2", "c=3").encode())
        let next = try #require(try merged(stored, "a=9", "d=4", addingNew: true))
        #expect(try CookieToken.decode(from: next.encode()).sessionCookies.map(\.value) == ["9", "2", "3", "4"])
    }
}
