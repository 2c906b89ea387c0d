import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests the CSRF token of requests that change something: where it is read and where it is sent.
struct RequestCSRFTests {
    struct Source: Sendable, CustomTestStringConvertible {
        var settings: [(String, String)]
        var header = "X-CSRF-Token"
        var value = "t-1"
        /// The page that the client gets before its request.
        var page: String? = "/page"
        var testDescription: String { settings.map { "\($0.0)=\($0.1)" }.joined(separator: " ") }
    }

    static let sources = [
        Source(settings: [("request-csrf", "cookie")], header: "X-CSRFToken", value: "c-1", page: nil),
        Source(settings: [("csrf", "cookie")], header: "X-CSRFToken", value: "c-1", page: nil),
        Source(
            settings: [("request-csrf", "cookie"), ("request-csrf-header", "X-XSRF")], header: "X-XSRF", value: "c-1", page: nil),
        Source(settings: [("request-csrf", "meta")]), Source(settings: [("request-csrf", "header")]),
        Source(settings: [("request-csrf", "input")], header: "X-CSRFToken"),
        Source(settings: [("request-csrf", "input"), ("request-csrf-header", "X-Own")], header: "X-Own"),
        Source(settings: [("request-csrf", "text"), ("request-csrf-name", #"config = {"token": "*""#)]),
        Source(
            settings: [("request-csrf", "json"), ("request-csrf-name", "a.0.csrf"), ("request-csrf-page", "/api/token")],
            page: nil),
        Source(settings: [("request-csrf", "meta"), ("request-csrf-page", "/page")], page: nil),
        Source(settings: [("csrf", "input"), ("csrf-header", "X-Same")], header: "X-Same"),
        Source(settings: [("csrf", "meta"), ("request-csrf", "cookie")], header: "X-CSRFToken", value: "c-1", page: nil),
        Source(settings: [("csrf", "meta"), ("request-csrf-header", "X-Two")], header: "X-Two"),
    ]

    @Test(arguments: sources)
    func `A request that changes something carries the token`(source: Source) async throws {
        let site = try CSRFSite()
        let session = try site.session(source.settings)
        try await session.login()
        if let page = source.page { _ = try await session.send(site.url + page, .get) }
        #expect(try await session.send("\(site.url)/change") == 200)
        #expect(site.last?[source.header] == source.value)
        #expect(site.last?["Origin"] == site.url)
        #expect(site.last?["Referer"]?.hasPrefix(site.url + "/") == true)
        #expect(site.state.logins == 1)
    }

    @Test(arguments: ["PUT", "PATCH", "DELETE", "PURGE"])
    func `Other methods that change something carry the token`(method: String) async throws {
        let site = try CSRFSite()
        let session = try site.session([("request-csrf", "cookie")])
        #expect(try await session.send("\(site.url)/change", HTTPMethod(validating: method)) == 200)
        #expect(site.last?["X-CSRFToken"] == "c-1")
    }

    /// An API on another host than the page that uses it checks the page's token.
    @Test func `Lines of the settings are sent in place of those of a browser`() async throws {
        let site = try CSRFSite()
        let lines = [("header", "Referer: https://app.example/"), ("header", "Origin: https://app.example")]
        let session = try site.session([("request-csrf", "cookie")] + lines)
        #expect(try await session.send("\(site.url)/change") == 200)
        #expect(site.last?["Referer"] == "https://app.example/" && site.last?["Origin"] == "https://app.example")
        #expect(site.last?["X-CSRFToken"] == "c-1")
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE"])
    func `Methods that change nothing carry no token`(method: String) async throws {
        let server = try ScriptedServer { _ in .init(headers: ["Set-Cookie: csrftoken=t; Path=/", "Set-Cookie: sid=1; Path=/"]) }
        let session = try CookieLogins.session(at: server, [("request-csrf", "cookie"), ("request-csrf-field", "t")])
        try await session.login()
        let request = try HTTPRequest(HTTPMethod(validating: method), "\(server.url)/x")
        _ = try? await session.provider().send(request)
        let sent = try #require(server.requests.last { $0.method == method })
        #expect(sent["X-CSRFToken"] == nil && sent["Origin"] == nil && sent.body.isEmpty)
        #expect(sent["Cookie"] != nil)
    }

    @Test func `With request-csrf=none, requests carry no token`() async throws {
        let site = try CSRFSite()
        let session = try site.session([("csrf", "cookie"), ("request-csrf", "none")])
        #expect(try await session.send("\(site.url)/change") == 419)
        #expect(site.last?["X-CSRFToken"] == nil)
        #expect(site.server.requests.first { $0.line == "POST /login" }?["X-CSRFToken"] == "c-1")
    }

    @Test func `The token of the page that a request got last is sent`() async throws {
        let site = try CSRFSite()
        let session = try site.session([("request-csrf", "meta")])
        for number in 1...3 {
            _ = try await session.send("\(site.url)/page", .get)
            _ = try await session.send("\(site.url)/plain", .get)
            #expect(try await session.send("\(site.url)/change") == 200)
            #expect(site.last?["X-CSRF-Token"] == "t-\(number)")
            site.renew()
        }
        #expect(site.server.requests.count { $0.target == "/change" } == 3)
    }

    @Test func `A line that the caller wrote stays`() async throws {
        let site = try CSRFSite()
        let session = try site.session([("request-csrf", "cookie")])
        let own = ["X-CsrfToken": "c-1-own", "Origin": "https://own.example", "Referer": "https://own.example/a"]
        #expect(try await session.send("\(site.url)/change", .post, body: "", own) == 200)
        for (name, value) in own { #expect(site.last?[name] == value) }
        #expect(site.last?.headers.count { $0.name.lowercased() == "x-csrftoken" } == 1)
    }

    /// A domain's cookies go to its other hosts and ports, but the token goes only to the session's origin.
    @Test(arguments: ["cookie", "meta"])
    func `No token goes to another origin`(source: String) async throws {
        let (site, other) = (try CSRFSite(), try ScriptedServer())
        let session = try site.session([("request-csrf", source)])
        try await session.login()
        _ = try await session.send("\(site.url)/page", .get)
        #expect(try await session.send("\(other.url)/change") == 200)
        let sent = try #require(other.requests.last)
        #expect(sent["Cookie"]?.contains("sid=1") == true)
        #expect(["X-CSRFToken", "X-CSRF-Token", "Origin", "Referer"].allSatisfy { sent[$0] == nil })
        #expect(!sent.headers.contains { $0.value.contains("t-1") })
    }

    /// A page of another origin gives no token for the session's own origin.
    @Test func `A token stays at the origin that issued it`() async throws {
        let site = try CSRFSite()
        let other = try ScriptedServer { _ in .page("<meta name=csrf-token content=t-evil>") }
        let session = try site.session([("request-csrf", "meta"), ("page", other.url + "/")])
        try await session.login()
        _ = try await session.send("\(site.url)/page", .get)
        _ = try await session.send("\(other.url)/page", .get)
        _ = try await session.send("\(site.url)/change")
        #expect(site.last?["X-CSRF-Token"] != "t-evil")
        _ = try await session.send("\(site.url)/page", .get)
        _ = try await session.send("\(other.url)/change")
        #expect(other.requests.last?["X-CSRF-Token"] != "t-1")
    }

    @Test func `A token that the login fetched from another origin goes there alone`() async throws {
        let site = try CSRFSite()
        let other = try ScriptedServer { _ in .page("<meta name=csrf-token content=t-other>") }
        let session = try site.session([("request-csrf", "meta"), ("request-csrf-page", other.url + "/token")])
        try await session.login()
        _ = try await session.send("\(other.url)/change")
        #expect(other.requests.last?["X-CSRF-Token"] == "t-other")
        site.refuse(with: .init(status: 500))
        #expect(try await session.send("\(site.url)/change") == 500)
        #expect(site.last?["X-CSRF-Token"] == nil)
    }

    // MARK: Fields

    private static let part =
        "------x(y)'z\r\nContent-Disposition: form-data; name=\"file\"; filename=\"csrf\"\r\n\r\ntext\r\n------x(y)'z--\r\n"

    @Test(arguments: [
        ("application/x-www-form-urlencoded", "a=1&b=2", "csrf=c-1&a=1&b=2"),
        ("application/x-www-form-urlencoded; charset=utf-8", "a=1", "csrf=c-1&a=1"),
        ("Application/X-WWW-Form-Urlencoded", "a=1", "csrf=c-1&a=1"), ("application/x-www-form-urlencoded", "", "csrf=c-1"),
        ("application/x-www-form-urlencoded", "csrf=own&a=1", "csrf=own&a=1"),
        ("application/x-www-form-urlencoded", "a=1&csrf=own", "a=1&csrf=own"),
        ("application/x-www-form-urlencoded", "a=1&xcsrf=own", "csrf=c-1&a=1&xcsrf=own"),
        ("application/json", #"{"a":1}"#, #"{"a":1}"#), ("text/plain", "a=1", "a=1"),
        (
            "multipart/form-data; boundary=----x(y)'z", part,
            "------x(y)'z\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nc-1\r\n" + part
        ),
        (
            "Multipart/Form-Data; charset=utf-8; Boundary=\"----x(y)'z\"", part,
            "------x(y)'z\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nc-1\r\n" + part
        ),
        ("multipart/form-data", part, part),
    ])
    func `The token goes into a field of a form's body`(type: String, body: String, sent: String) async throws {
        let site = try CSRFSite()
        let session = try site.session([("request-csrf", "cookie"), ("request-csrf-field", "csrf")])
        try await session.login()
        _ = try await session.send("\(site.url)/change", .post, body: body, ["Content-Type": type])
        let request = try #require(site.server.requests.first { $0.target == "/change" })
        #expect(request.text == sent)
        #expect(request["X-CSRFToken"] == nil)
        #expect(request["Content-Length"] == String(sent.utf8.count))
    }

    @Test func `A header and a field can both carry the token`() async throws {
        let site = try CSRFSite()
        let session = try site.session(
            [("request-csrf", "cookie"), ("request-csrf-field", "csrf"), ("request-csrf-header", "X-C")])
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        #expect(try await session.send("\(site.url)/change", .post, body: "a=1", form) == 200)
        #expect(site.last?.text == "csrf=c-1&a=1" && site.last?["X-C"] == "c-1")
        #expect(try await session.send("\(site.url)/change", .post, body: "{}", ["Content-Type": "application/json"]) == 200)
        #expect(site.last?.text == "{}" && site.last?["X-C"] == "c-1")
    }

    // MARK: Rejected

    /// A hostile page's token must not become a separate header line, or something that no header can carry.
    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "", String(repeating: "t", count: 2049), "a\0b"])
    func `A token that no header can carry is none`(token: String) async throws {
        let server = try ScriptedServer { request in
            request.method == "GET"
                ? .page("<meta name=csrf-token content=\"\(token)\">") : .page("Hello", "Set-Cookie: sid=1; Path=/")
        }
        let session = try CookieLogins.session(at: server, [("success", "200"), ("request-csrf", "meta")])
        try await session.login()
        _ = try await session.send("\(server.url)/page", .get)
        #expect(try await session.send("\(server.url)/change") == 200)
        let sent = try #require(server.requests.last)
        #expect(sent["X-Evil"] == nil && sent["X-CSRF-Token"]?.utf8.contains(where: { $0 < 0x20 }) != true)
        #expect((sent["X-CSRF-Token"]?.utf8.count ?? 0) <= 2048)
    }

    @Test(arguments: [
        ("request-csrf-page", "http://h/", "has no meaning without request-csrf"),
        ("csrf-stale", "403", "has no meaning without request-csrf"),
        ("request-csrf-name", "t", "has no meaning without request-csrf"),
        ("request-csrf-header", "X", "has no meaning without request-csrf"),
        ("request-csrf-field", "t", "has no meaning without request-csrf"),
    ])
    func `A setting of a token that isn't sent is refused`(name: String, value: String, words: String) throws {
        let error = try #require(throws: PluginError.self) {
            try CookieLogins.instance([("login", "http://h/login"), (name, value)])
        }
        guard case .failed("cookie", "create", 1, name, words, nil) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }
}
