import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests responses that show the end of a session, and responses that only seem to.
struct SessionExpiryTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var settings: [(String, String)] = []
        var login = "/login"
        var target = "/x"
        var refusal: ScriptedServer.Response
        var isEnd = true
        var testDescription: String { name }
    }

    private static let form = "<form method=post action=/login><input name=username><input type=password name=password></form>"

    static let cases = [
        // A status.
        Case(name: "a 401", refusal: .init(status: 401)),
        Case(name: "a 403 that the settings name", settings: [("expired", "403")], refusal: .init(status: 403)),
        Case(name: "a 403 that they don't name", refusal: .init(status: 403), isEnd: false),
        Case(
            name: "a 403 with the words", settings: [("expired", #"403 body:"log in""#)],
            refusal: .init(status: 403, body: "please log in"), isEnd: true),
        Case(
            name: "a 403 with other words", settings: [("expired", #"403 body:"log in""#)],
            refusal: .init(status: 403, body: "not yours"), isEnd: false),
        Case(name: "another status that the settings name", settings: [("expired", "440")], refusal: .init(status: 440)),
        Case(name: "a 404 that the settings name", settings: [("expired", "404")], refusal: .init(status: 404)),
        Case(
            name: "a header line of a 400", settings: [("expired", "400 header:X-Session=expired")],
            refusal: .init(status: 400, headers: ["X-Session: expired"])),
        // A redirect.
        Case(name: "a redirect to the login", refusal: .redirect("/login")),
        Case(name: "a redirect to the login with the way back", refusal: .redirect("/login?next=/x", status: 303)),
        Case(name: "a redirect to the login's address with a fragment", refusal: .redirect("login#a")),
        Case(
            name: "a redirect to the page of the form", settings: [("page", "/signin?a=1")], refusal: .redirect("/signin?b=2&a=1")
        ),
        Case(
            name: "a redirect to the page of the form with another query", settings: [("page", "/signin?a=1")],
            refusal: .redirect("/signin?a=2"), isEnd: false),
        Case(name: "a redirect elsewhere", refusal: .redirect("/other"), isEnd: false),
        Case(
            name: "a redirect that the settings name", settings: [("expired", "location:/welcome*")],
            refusal: .redirect("/welcome/back")),
        Case(
            name: "a redirect whose query routes", login: "/index.php?r=login", target: "/index.php?r=orders",
            refusal: .redirect("/index.php?r=login&back=1")),
        Case(
            name: "a redirect with another route", login: "/index.php?r=login", target: "/index.php?r=orders",
            refusal: .redirect("/index.php?r=other"), isEnd: false),
        Case(
            name: "a redirect by the query beside a logout by the query", settings: [("logout", "/index.php?r=logout")],
            login: "/index.php?r=login", target: "/index.php?r=orders", refusal: .redirect("/index.php?r=login")),
        Case(
            name: "a redirect by the query beside a probe without one", settings: [("probe", "/index.php"), ("success", "200")],
            login: "/index.php?r=login", target: "/index.php?r=orders", refusal: .redirect("/index.php?r=login")),
        Case(name: "a redirect to the start, which is the login", login: "/", refusal: .redirect("/")),
        Case(
            name: "a redirect to the start with a query, where the start is the login", login: "/",
            refusal: .redirect("/?tab=2"), isEnd: false),
        // A page.
        Case(name: "the login's form", refusal: .page("<h1>Log in</h1>\(form)")),
        Case(name: "the login's form far down", refusal: .page(String(repeating: "<p>text</p>", count: 5000) + form)),
        Case(
            name: "the login's form beyond the bound", refusal: .page(String(repeating: "<p>text</p>", count: 7000) + form),
            isEnd: false),
        Case(
            name: "a form with other fields", refusal: .page("<form><input name=q><input name=password2></form>"), isEnd: false),
        Case(
            name: "a form to change the password", refusal: .page("<form><input type=password name=password></form>"),
            isEnd: false),
        Case(
            name: "a form with both fields that goes elsewhere",
            refusal: .page(form.replacing("/login", with: "/admin/login")), isEnd: false),
        Case(
            name: "a form with both fields that goes to another origin",
            refusal: .page(form.replacing("/login", with: "http://127.0.0.1:1/login")), isEnd: false),
        Case(
            name: "a form to register at the login's address",
            refusal: .page(form.replacing("type=password", with: "type=password autocomplete=new-password")), isEnd: false),
        Case(
            name: "a form with two passwords at the login's address",
            refusal: .page(form.replacing("</form>", with: "<input type=password name=again></form>")), isEnd: false),
        Case(
            name: "both fields in different forms",
            refusal: .page("<form><input name=username></form><form><input name=password></form>"), isEnd: false),
        Case(name: "the form's text", refusal: .page("<pre>\(form.replacing("<", with: "&lt;"))</pre>"), isEnd: false),
        Case(
            name: "a page of another type", refusal: .init(headers: ["Content-Type: text/plain"], body: form), isEnd: false),
        Case(
            name: "a page that the settings name", settings: [("expired", #"200 body:"session expired""#)],
            refusal: .page("Your session expired.")),
        Case(
            name: "a page with a field that the settings name", settings: [("expired", "field:otp")],
            refusal: .page("<form><input name=otp></form>")),
        Case(name: "an error page with the form", refusal: .page(form, status: 500), isEnd: false),
        // JSON.
        Case(
            name: "JSON that the settings name", settings: [("expired", "json:error.code=session_expired")],
            refusal: .json(200, #"{"error":{"code":"session_expired"}}"#)),
        Case(
            name: "JSON with another code", settings: [("expired", "json:error.code=session_expired")],
            refusal: .json(200, #"{"error":{"code":"other"}}"#), isEnd: false),
        Case(
            name: "JSON with a 403", settings: [("expired", "json:code=7")], refusal: .json(403, #"{"code":7}"#)),
        Case(
            name: "JSON of a media type of its own", settings: [("expired", "json:code=7")],
            refusal: .init(headers: ["Content-Type: application/problem+json"], body: #"{"code":7}"#)),
        Case(
            name: "JSON of an API's media type", settings: [("expired", "json:code=7")],
            refusal: .init(headers: ["Content-Type: application/vnd.api+json; charset=utf-8"], body: #"{"code":7}"#)),
        Case(
            name: "a header line of a response in JSON", settings: [("expired", "200 header:X-Session=expired")],
            refusal: .json(200, "{}", "X-Session: expired")),
        Case(
            name: "another header line of a response in JSON", settings: [("expired", "200 header:X-Session=expired")],
            refusal: .json(200, "{}", "X-Session: good"), isEnd: false),
        Case(
            name: "XML that the settings name", settings: [("expired", "200 body:<expired/>")],
            refusal: .init(headers: ["Content-Type: text/xml"], body: "<a><expired/></a>")),
        Case(
            name: "a cookie's deletion by a response in JSON", settings: [("expired", "deleted:sid")],
            refusal: .json(200, "{}", "Set-Cookie: sid=; Max-Age=0; Path=/")),
        // The site routes by the query, in the form's address or among its fields.
        Case(
            name: "a form of another route", login: "/index.php?r=login", target: "/index.php?r=orders",
            refusal: .page(form.replacing("/login", with: "/index.php?r=users")), isEnd: false),
        Case(
            name: "the form of the login's route", login: "/index.php?r=login", target: "/index.php?r=orders",
            refusal: .page(form.replacing("/login", with: "'/index.php?x=1&amp;r=login'"))),
        Case(
            name: "the form of the login's route, written in another way", login: "/index.php?r=user:login",
            target: "/index.php?r=orders", refusal: .page(form.replacing("/login", with: "'/index.php?r=user%3Alogin'"))),
        Case(
            name: "the login's form without the login's query", login: "/login?lang=en", refusal: .page(form)),
        Case(
            name: "a form whose field routes to the login", login: "/index.php?r=login", target: "/index.php?r=orders",
            refusal: .page(form.replacing("/login>", with: "/index.php><input type=hidden name=r value=login>"))),
        // The cookie.
        Case(
            name: "the session cookie's deletion by a page", settings: [("session-cookie", "sid")],
            refusal: .page("Bye", "Set-Cookie: sid=; Max-Age=0")),
        Case(
            name: "its deletion by a redirect", settings: [("session-cookie", "s*")],
            refusal: .redirect("/welcome", "Set-Cookie: sid=; Expires=Thu, 01 Jan 1970 00:00:00 GMT")),
        Case(
            name: "another cookie's deletion", settings: [("session-cookie", "sid")],
            refusal: .page("Bye", "Set-Cookie: other=; Max-Age=0"), isEnd: false),
        Case(
            name: "a cookie's deletion that the settings name", settings: [("expired", "deleted:si*")],
            refusal: .page("Bye", "Set-Cookie: sid=; Max-Age=0")),
    ]

    private static let deliveries: [TransferOptions.Delivery] = [.collected(limit: 1 << 20), .streamed]

    private func get(
        _ session: SchemeSession, _ url: String, _ delivery: TransferOptions.Delivery = .collected(limit: 1 << 20)
    ) async throws -> (status: Int, text: String) {
        let options = RequestOptions(delivery: delivery, redirects: .none)
        let response = try await session.provider().send(HTTPRequest(.get, url), options)
        return (response.status, String(decoding: try await response.body.collect(), as: UTF8.self))
    }

    @Test(arguments: cases, [0, 1])
    func `A session ends with a response that says so`(test: Case, delivery: Int) async throws {
        let site = try CookieSite(
            attributes: "; Path=/", login: test.login,
            { $0.target == "/signin?a=1" ? .page(Self.form) : test.refusal }, { _ in .page("Orders") })
        let session = try site.session([("login", test.login)] + test.settings)
        let url = site.url + test.target
        try await session.login()
        #expect(try await get(session, url, Self.deliveries[delivery]) == (200, "Orders"))
        site.end()
        let response = try await get(session, url, Self.deliveries[delivery])
        if test.isEnd {
            #expect(response == (200, "Orders"))
            #expect(site.logins == 2)
            #expect(site.server.requests.count { $0.target == test.target } == 3)
        } else {
            #expect(response == (test.refusal.status, test.refusal.body))
            #expect(site.logins == 1)
        }
    }

    /// The application's own requests to these pages get these responses.
    @Test(arguments: ["/login", "/signin"])
    func `The login's own pages don't end the session`(target: String) async throws {
        let site = try CookieSite({ _ in .page(Self.form) }, { _ in .page(Self.form) })
        let session = try site.session([("page", "/signin"), ("success", "200")])
        try await session.login()
        #expect(try await get(session, site.url + target) == (200, Self.form))
        #expect(site.logins == 1)
    }

    @Test func `A page that always has the login's form costs one login`() async throws {
        let site = try CookieSite({ _ in .page(Self.form) }, { _ in .page("Hello" + Self.form) })
        let session = try site.session()
        try await session.login()
        #expect(try await get(session, "\(site.url)/x").text == "Hello" + Self.form)
        #expect(site.logins == 2)
    }

    /// The request has changed something. Sent again, it would change it twice.
    @Test func `A request that logs the user out is not sent again`() async throws {
        let site = try CookieSite({ _ in .redirect("/login") }, { _ in .page("Changed", "Set-Cookie: sid=; Max-Age=0; Path=/") })
        let session = try site.session([("session-cookie", "sid")])
        try await session.login()
        let response = try await session.provider().text("\(site.url)/change-password", .post)
        #expect(response == (200, "Changed"))
        #expect(site.server.requests.count { $0.target == "/change-password" } == 1)
    }

    /// The login's own responses, and plausible responses to a change. If the change were sent again, it would be made twice.
    @Test(
        arguments: [
            ("/login", .page("<form method=post><input name=username><input type=password name=password></form>")),
            ("/", .redirect("/")),
        ] as [(String, ScriptedServer.Response)])
    func `A change isn't sent again for a response that need not be the login`(
        login: String, response: ScriptedServer.Response
    ) async throws {
        let site = try CookieSite(attributes: "; Path=/", login: login, { _ in .page("Log in") }, { _ in response })
        let session = try site.session([("login", login)])
        try await session.login()
        let options = RequestOptions(redirects: .none)
        let change = try await session.provider().send(HTTPRequest(.post, "\(site.url)/change"), options)
        #expect(change.status == response.status)
        #expect(site.server.requests.count { $0.target == "/change" } == 1)
        #expect(site.logins == 1)
        _ = try await get(session, "\(site.url)/x")
        #expect(site.logins == 2)
    }

    /// A failing probe proves nothing, so the change isn't sent again. A sign of `expired` is explicit in the settings.
    @Test(arguments: [(503, [], 1), (200, [("expired", "302 location:/login")], 2)] as [(Int, [(String, String)], Int)])
    func `A doubted redirect is decided by the probe, or by the settings`(
        status: Int, settings: [(String, String)], count: Int
    ) async throws {
        let site = try CookieSite(
            attributes: "; Path=/", { _ in .redirect("/login") },
            { $0.target == "/signup" ? .redirect("/login") : .init(status: status) })
        let session = try site.session([("success", "200"), ("probe", "/me")] + settings)
        try await session.login()
        let options = RequestOptions(redirects: .none)
        _ = try? await session.provider().send(HTTPRequest(.post, "\(site.url)/signup"), options)
        #expect(site.server.requests.count { $0.target == "/signup" } == count)
        #expect(site.logins == count)
    }

    @Test func `The probe of a doubted redirect carries the cookie that came with it`() async throws {
        let server = try ScriptedServer { request in
            switch request.line {
            case "POST /login": .init(headers: ["Set-Cookie: sid=1; Path=/"])
            case "POST /signup": .redirect("/login", "Set-Cookie: sid=2; Path=/")
            default: request["Cookie"] == "sid=2" ? .page("Hello") : .redirect("/login")
            }
        }
        let session = try CookieLogins.session(at: server, [("success", "200"), ("probe", "/me")])
        try await session.login()
        let options = RequestOptions(redirects: .none)
        #expect(try await session.provider().send(HTTPRequest(.post, "\(server.url)/signup"), options).status == 302)
        #expect(server.requests.map(\.line) == ["POST /login", "POST /signup", "GET /me"])
    }

    /// A sign-up leads to the login, although somebody is logged in.
    @Test func `A change that leads to the login isn't sent again if the probe still knows the session`() async throws {
        let site = try CookieSite(
            attributes: "; Path=/", { _ in .redirect("/login") },
            { $0.target == "/signup" ? .redirect("/login") : .page("Hello") })
        let session = try site.session([("probe", "/me")])
        try await session.login()
        let before = site.server.requests.count
        let options = RequestOptions(redirects: .none)
        let response = try await session.provider().send(HTTPRequest(.post, "\(site.url)/signup"), options)
        #expect(response.status == 302)
        #expect(site.server.requests[before...].map(\.line) == ["POST /signup", "GET /me"])
        site.end()
        #expect(try await session.provider().send(HTTPRequest(.post, "\(site.url)/x"), options).status == 200)
        #expect(site.logins == 2)
        #expect(site.server.requests.count { $0.target == "/x" } == 2)
    }

    private static let signUp =
        "Account made. <form method=post action=/login><input name=username><input type=password name=password></form>"

    /// A public page may have the login's form.
    @Test(arguments: [signUp, signUp.replacing(" action=/login", with: "")])
    func `A page with the login's form doesn't end a session that the probe still knows`(page: String) async throws {
        let site = try CookieSite(
            attributes: "; Path=/", { _ in .redirect("/login") },
            { $0.target == "/accounts" ? .page(page) : .page("Hello") })
        let session = try site.session([("success", "200"), ("probe", "/me")])
        try await session.login()
        for method in [HTTPMethod.post, .get] {
            #expect(try await session.provider().text("\(site.url)/accounts", method) == (200, page))
            #expect(site.server.requests.count { $0.line == "\(method) /accounts" } == 1)
        }
        #expect(site.logins == 1)
    }

    /// From now on, the response's cookies and the probe's belong to the session.
    @Test func `A cookie that comes with a doubted redirect is kept`() async throws {
        let server = try ScriptedServer { request in
            switch request.line {
            case "POST /login": .init(headers: ["Set-Cookie: sid=1; Path=/"])
            case "POST /password": .redirect("/login", "Set-Cookie: sid=2; Path=/")
            default: request["Cookie"] == "sid=2" ? .page("Hello") : .redirect("/login")
            }
        }
        let session = try CookieLogins.session(at: server, [("success", "200"), ("probe", "/me")])
        try await session.login()
        let options = RequestOptions(redirects: .none)
        #expect(try await session.provider().send(HTTPRequest(.post, "\(server.url)/password"), options).status == 302)
        #expect(try await get(session, "\(server.url)/x") == (200, "Hello"))
        #expect(server.requests.map(\.line) == ["POST /login", "POST /password", "GET /me", "GET /x"])
    }

    /// A page that shows progress must not be held back until its end.
    @Test func `A page that comes slowly is not held back`() async throws {
        let (isShown, isClosed) = (Latch(), Latch())
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                if request.head.hasPrefix("POST") {
                    connection.write("HTTP/1.1 200 X\r\nContent-Length: 0\r\nSet-Cookie: sid=1; Path=/\r\n\r\n")
                    continue
                }
                connection.write("HTTP/1.1 200 X\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\nfirst")
                isShown.waitOnThread()
                connection.write("later")
                isClosed.waitOnThread()
                connection.write("last!")
            }
        }
        let session = try CookieLogins.session([("login", "\(server.url)/login"), ("username", "u"), ("password", "p")])
        let response = try await session.provider().send(
            HTTPRequest(.get, "\(server.url)/x"), RequestOptions(delivery: .streamed))
        guard case .stream(let stream) = response.body else { return #expect(Bool(false), "no stream") }
        #expect(try await stream.next() == Array("first".utf8))
        isShown.set()
        #expect(try await stream.next() == Array("later".utf8))
        isClosed.set()
        #expect(try await stream.next() == Array("last!".utf8))
        #expect(try await stream.next() == nil)
    }

    /// A body's bytes arrive as the server sends them.
    @Test func `A stream of another type is not held back`() async throws {
        let isReturned = Latch()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                if request.head.hasPrefix("POST") {
                    connection.write("HTTP/1.1 200 X\r\nContent-Length: 0\r\nSet-Cookie: sid=1; Path=/\r\n\r\n")
                    continue
                }
                connection.write("HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nContent-Length: 10\r\n\r\nfirst")
                isReturned.waitOnThread()
                connection.write("later")
            }
        }
        let session = try CookieLogins.session([("login", "\(server.url)/login"), ("username", "u"), ("password", "p")])
        let response = try await session.provider().send(
            HTTPRequest(.get, "\(server.url)/x"), RequestOptions(delivery: .streamed))
        isReturned.set()
        #expect(try await response.body.collect() == Array("firstlater".utf8))
    }
}
