import NevodTestSupport
import Testing

@testable import NevodHost

struct CookieJarTests {
    private func names(_ jar: CookieJar) -> [String] { jar.map(\.name) }

    @Test func `Cookies are sent with longer paths first, then in the order of creation`() throws {
        var jar = try jar(
            from: "https://h.example/", "root=1", "deep=2; Path=/a/b", "shallow=3; Path=/a", "second=4; Path=/a/b", "root2=5")
        #expect(names(jar) == ["root", "deep", "shallow", "second", "root2"])
        let request = try get("https://h.example/a/b/c")
        #expect(jar.cookieLine(for: request, now: cookieTime) == "deep=2; second=4; shallow=3; root=1; root2=5")

        // A new value keeps the position of the old one.
        jar.store(setCookieLinesOf: response(setting: ["deep=6; Path=/a/b"]), from: request, now: cookieTime + .seconds(9))
        #expect(jar.cookieLine(for: request, now: cookieTime) == "deep=6; second=4; shallow=3; root=1; root2=5")
        #expect(jar.map(\.creation).first { $0 > cookieTime + .seconds(1) } == nil)
        #expect(jar.cookieLine(for: try get("https://other.example/"), now: cookieTime) == nil)
    }

    @Test func `The order of cookies doesn't depend on the order in which they arrived`() throws {
        let late = try #require(Cookie(name: "late", value: "", domain: "h", creation: UnixTime(seconds: 2)))
        let early = try #require(Cookie(name: "early", value: "", domain: "h", creation: UnixTime(seconds: 1)))
        #expect(names(CookieJar([late, early])) == ["early", "late"])
        #expect([late, early].sent(with: try get("http://h/"), now: cookieTime).map(\.name) == ["early", "late"])
    }

    @Test func `Cookies with another name, domain or path are different cookies`() throws {
        let jar = try jar(
            from: "https://www.example.com/x/y", "a=1", "a=2; Path=/", "a=3; Domain=example.com", "A=4", "a=5", "a=6; Path=/")
        #expect(jar.map(\.value) == ["5", "6", "3", "4"])
        #expect(
            jar.cookieLine(for: try get("https://www.example.com/x/"), now: cookieTime) == "a=5; a=3; A=4; a=6")
    }

    @Test func `An expired cookie deletes the stored one`() throws {
        var jar = try jar(from: "https://h.example/", "a=1", "b=2", "c=3; Max-Age=10", "b=; Max-Age=0", "never=1; Max-Age=-1")
        #expect(names(jar) == ["a", "c"])
        let request = try get("https://h.example/")
        #expect(jar.cookieLine(for: request, now: cookieTime + .seconds(10)) == "a=1")
        jar.store(setCookieLinesOf: response(setting: []), from: request, now: cookieTime + .seconds(10))
        #expect(names(jar) == ["a"])
        jar.store(
            setCookieLinesOf: response(setting: ["a=; expires=Thu, 01 Jan 1970 00:00:00 GMT"]), from: request, now: cookieTime)
        #expect(jar.isEmpty)
    }

    @Test func `A deletion for another path or host leaves the cookie`() throws {
        var jar = try jar(from: "https://www.example.com/", "a=1; Path=/x", "b=2")
        jar.store(
            setCookieLinesOf: response(setting: ["a=; Max-Age=0; Path=/", "b=; Max-Age=0; Domain=www.example.com"]),
            from: try get("https://other.example.com/"), now: cookieTime)
        #expect(names(jar) == ["a", "b"])
    }

    @Test(arguments: [
        ("http://www.example.com/app/", "s=evil", true), ("http://www.example.com/app/", "s=evil; Domain=example.com", true),
        ("http://example.com/app/", "s=evil", true), ("http://sub.www.example.com/app/", "s=evil; Domain=example.com", true),
        ("http://www.example.com/", "s=; Max-Age=0; Path=/app; Domain=example.com", true),
        ("http://www.example.com/", "s=evil; Path=/app/deeper", true), ("http://www.example.com/", "s=x", false),
        ("http://www.example.com/", "s=x; Path=/application", false), ("http://www.example.com/app/", "t=x", false),
        ("http://other.com/app/", "s=x", false), ("https://www.example.com/app/", "s=x", false),
    ])
    func `A cookie set over HTTP doesn't shadow a secure one`(url: String, line: String, isRefused: Bool) throws {
        var jar = try jar(from: "https://www.example.com/app/", "s=good; Secure; Domain=example.com")
        let before = Array(jar)
        jar.store(setCookieLinesOf: response(setting: [line]), from: try get(url), now: cookieTime)
        #expect((Array(jar) == before) == isRefused)
    }

    @Test func `A thousand Set-Cookie lines in one response leave fifty cookies`() throws {
        var jar = try jar(from: "https://other.example/", "kept=1")
        jar.store(
            setCookieLinesOf: response(setting: (0..<1000).map { "c\($0)=\($0)" }), from: try get("https://h.example/"),
            now: cookieTime)
        #expect(names(jar) == ["kept"] + (950..<1000).map { "c\($0)" })
    }

    @Test func `A jar holds 3000 cookies`() throws {
        let cookies = (0..<3001).compactMap { Cookie(name: "a", value: "\($0)", domain: "h\($0).example") }
        #expect(CookieJar(cookies).map(\.value) == (1..<3001).map(String.init))
    }

    // MARK: Eviction

    private func cookies(_ count: Int, at domain: String, isSecure: Bool = false, from start: Int = 0) -> [Cookie] {
        (start..<start + count).compactMap {
            Cookie(name: "c\($0)", value: "", domain: domain, isSecure: isSecure, creation: UnixTime(seconds: Int64($0)))
        }
    }

    @Test func `A cookie that isn't secure makes room first`() throws {
        let secure = cookies(49, at: "h.example", isSecure: true)
        var jar = CookieJar(secure + cookies(1, at: "h.example", from: 100))
        let request = try get("https://h.example/")
        jar.store(setCookieLinesOf: response(setting: ["new=1; Secure"]), from: request, now: cookieTime)
        #expect(names(jar) == secure.map(\.name) + ["new"])
        // A cookie without TLS can't remove the secure ones, so it is removed itself.
        jar.store(
            setCookieLinesOf: response(setting: (0..<200).map { "evil\($0)=1" }), from: try get("http://h.example/"),
            now: cookieTime)
        #expect(names(jar) == secure.map(\.name) + ["new"])
        // Of secure cookies, the oldest is removed.
        jar.store(setCookieLinesOf: response(setting: ["newer=1; Secure"]), from: request, now: cookieTime)
        #expect(names(jar) == secure.dropFirst().map(\.name) + ["new", "newer"])
    }

    @Test func `A site holds 180 cookies, whatever the number of its hosts`() {
        let other = cookies(3, at: "other.example")
        let jar = CookieJar(other + (0..<10).flatMap { cookies(50, at: "h\($0).site.co.uk", from: 10) })
        #expect(Array(jar).count == 183)
        #expect(jar.filter { $0.domain == "other.example" }.count == 3)
        // A site is a registered domain, not a suffix that it shares with others.
        let sites = CookieJar((0..<10).flatMap { cookies(50, at: "h\($0).co.uk", from: 10) })
        #expect(Array(sites).count == 500)
        let addresses = CookieJar((0..<10).flatMap { cookies(50, at: "10.0.0.\($0)", from: 10) })
        #expect(Array(addresses).count == 500)
    }

    @Test func `No site removes the cookies of another`() throws {
        var random = SeededRandom(seed: 6265)
        let own = cookies(20, at: "own.example")
        var jar = CookieJar(own)
        for round in 0..<220 {
            let host = "h\(Int.random(in: 0..<9, using: &random)).site\(round % 20).example"
            let lines = (0..<20).map { "c\(round)-\($0)=1\($0 % 3 == 0 ? "; Secure" : "")" }
            jar.store(setCookieLinesOf: response(setting: lines), from: try get("https://\(host)/"), now: cookieTime)
        }
        #expect(Array(jar).count == 3000)
        #expect(jar.filter { $0.domain == "own.example" } == own)
    }

    // MARK: Prefixes

    @Test(arguments: ["https://127.0.0.1/", "https://[::1]/", "https://github.io/", "https://localhost/", "https://h.example/"])
    func `A __Host- cookie with a Domain is refused, also for a host that is all of its domain`(url: String) throws {
        let request = try get(url)
        let host = request.origin.host
        for name in ["__Host-a", "__HOST-a"] {
            #expect(Cookie(setCookie: "\(name)=b; Secure; Path=/; Domain=\(host)", from: request, now: cookieTime) == nil)
            #expect(Cookie(setCookie: "\(name)=b; Secure; Path=/", from: request, now: cookieTime)?.isHostOnly == true)
        }
    }

    @Test func `No cookie breaks the promise of its name, wherever it comes from`() throws {
        func cookie(_ name: String, isHostOnly: Bool = true, path: String = "/", isSecure: Bool = true) -> Cookie? {
            Cookie(name: name, value: "b", domain: "h.example", isHostOnly: isHostOnly, path: path, isSecure: isSecure)
        }
        #expect(cookie("__Host-a") != nil && cookie("__Secure-a", isHostOnly: false, path: "/x") != nil)
        #expect(cookie("__Host-a", isHostOnly: false) == nil)
        #expect(cookie("__hOST-a", path: "/x") == nil)
        #expect(cookie("__Host-a", isSecure: false) == nil)
        #expect(cookie("__secure-a", isSecure: false) == nil)
        #expect(cookie("__Hosta", isHostOnly: false, isSecure: false) != nil)
        #expect(try CookieFile.decode(Array("h.example\tFALSE\t/\tTRUE\t0\t__Host-a\tb\n".utf8)).count == 1)
        for line in [
            "h.example\tTRUE\t/\tTRUE", ".h.example\tTRUE\t/\tTRUE", "h.example\tFALSE\t/x\tTRUE", "h.example\tFALSE\t/\tFALSE",
        ] {
            let error = #expect(throws: CookieFileError.self) {
                try CookieFile.decode(Array("\(line)\t0\t__Host-a\thidden\n".utf8))
            }
            #expect(error.map { "\($0)" }?.contains("__Host-") == true && error.map { "\($0)" }?.contains("hidden") == false)
        }
    }
}
