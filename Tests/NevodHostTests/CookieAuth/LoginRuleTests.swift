import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests for which responses a login has succeeded, following the steps of the rule in Docs/schemes/cookie.md.
struct LoginRuleTests {
    /// A site, given by its responses to the login and to other pages.
    struct Site: Sendable {
        var login: ScriptedServer.Response
        var pages: [String: ScriptedServer.Response] = [:]

        func server() throws -> ScriptedServer {
            try ScriptedServer { [self] request in
                request.line == "POST /login" ? login : pages[request.target] ?? .page("not here", status: 404)
            }
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var site: Site
        var settings: [(String, String)] = []
        /// Nil if the login succeeds.
        var words: String?
        var status = PluginStatus.denied
        var requests: [String]?
        var testDescription: String { name }

        init(
            _ name: String, _ login: ScriptedServer.Response, _ pages: [String: ScriptedServer.Response] = [:],
            _ settings: [(String, String)] = [], requests: [String]? = nil, _ status: PluginStatus = .denied,
            fails words: String? = nil
        ) {
            (self.name, site, self.settings) = (name, Site(login: login, pages: pages), settings)
            (self.words, self.status, self.requests) = (words, status, requests)
        }
    }

    private static let cookie = "Set-Cookie: sid=1; Path=/"
    private static let form = "<form method=post action=/login><input name=username><input type=password name=password></form>"
    private static let home = ["/home": ScriptedServer.Response.page("<h1>Orders</h1>")]

    static let cases = [
        // 1: explicit signs, first of failure and then of success.
        Case(
            "a sign of failure, though a sign of success holds", .page("Hello. Wrong.", cookie), [:],
            [("failure", "body:Wrong"), ("success", "200")], fails: "the server refused (status 200)"),
        Case("a sign of success, though the page has a login form", .page(form, cookie), [:], [("success", "200")]),
        Case("a sign of success, though the status is 4xx", .page("", status: 418, cookie), [:], [("success", "418")]),
        Case(
            "a sign of success, and nothing else is asked", .redirect("/home", cookie), home,
            [("success", "location:/home"), ("probe", "/home")], requests: ["POST /login"]),
        Case(
            "no sign of success", .redirect("/home", cookie), home, [("success", "location:/welcome")],
            fails: "no sign of success (status 302)"),
        Case(
            "a sign of success without any cookie", .page("Hello"), [:], [("success", "200")], .unavailable,
            fails: "the server set no valid cookie"),
        // 2: refusals.
        Case("a 400", .page("", status: 400, cookie), fails: "the server refused (status 400)"),
        Case("a 401", .page("", status: 401, cookie), fails: "the server refused (status 401)"),
        Case("a 403", .page("", status: 403, cookie), fails: "(status 403; it may want a CSRF token: see the setting csrf)"),
        Case("the form again", .page(form, cookie), fails: "the server showed the login page again"),
        Case(
            "the form again, with the session's cookie", .page(form, cookie), [:], [("session-cookie", "sid")],
            fails: "the server showed the login page again"),
        Case(
            "a redirect to the form", .redirect("/login?error=1", cookie), ["/login?error=1": .page(form)],
            requests: ["POST /login", "GET /login?error=1"], fails: "login page"),
        Case(
            "a redirect to the form with the session's cookie", .redirect("/login", status: 303, cookie), ["/login": .page(form)],
            [("session-cookie", "sid")], fails: "the server showed the login page again"),
        Case(
            "a redirect to the page of the form", .redirect("/form?failed", cookie),
            ["/form": .page(form), "/form?failed": .page(form)], [("page", "/form")],
            requests: ["GET /form", "POST /login", "GET /form?failed"], fails: "login page"),
        Case(
            "JSON that says no", .json(200, #"{"success":false}"#, cookie), [:], [("format", "json")],
            fails: "the server refused (status 200)"),
        Case(
            "JSON with an error", .json(200, #"{"error":"bad"}"#, cookie), [:], [("session-cookie", "sid")],
            fails: "the server refused (status 200), saying \"bad\""),
        Case(
            "JSON with errors", .json(200, #"{"errors":{"password":["wrong"]}}"#, cookie), fails: "saying \"wrong\""),
        Case("JSON with a status in words", .json(200, #"{"status":"Error"}"#, cookie), fails: "the server refused (status 200)"),
        Case(
            "JSON without an error", .json(200, #"{"error":null,"errors":[],"status":"ok"}"#, cookie), [:], [("format", "json")]),
        Case("404", .page("", status: 404, cookie), [:], [], .unavailable, fails: "can't log in users now (status 404)"),
        Case("405", .page("", status: 405, cookie), [:], [], .unavailable, fails: "can't log in users now (status 405)"),
        Case("406", .page("", status: 406, cookie), [:], [], .unavailable, fails: "can't log in users now (status 406)"),
        Case("415", .page("", status: 415, cookie), [:], [], .unavailable, fails: "can't log in users now (status 415)"),
        Case("408", .page("", status: 408, cookie), [:], [], .unavailable, fails: "can't log in users now (status 408)"),
        Case("410", .page("", status: 410, cookie), [:], [], .unavailable, fails: "can't log in users now (status 410)"),
        Case("429", .page("", status: 429, cookie), [:], [], .unavailable, fails: "can't log in users now (status 429)"),
        Case("500", .page("", status: 500, cookie), [:], [], .unavailable, fails: "can't log in users now (status 500)"),
        Case("599", .page("", status: 599, cookie), [:], [], .unavailable, fails: "can't log in users now (status 599)"),
        // 4: the session's cookie.
        Case(
            "the session's cookie", .redirect("/gone", cookie), [:], [("session-cookie", "sid")],
            requests: ["POST /login", "GET /gone"]),
        Case(
            "the session's cookie by a pattern", .redirect("/gone", "Set-Cookie: wp_in_8a=1; Path=/"), [:],
            [("session-cookie", "wp_in_*")], requests: ["POST /login", "GET /gone"]),
        Case("the session's cookie with a page", .page("Hello", cookie), [:], [("session-cookie", "sid")]),
        Case(
            "another cookie", .redirect("/home", "Set-Cookie: visitor=1; Path=/"), home, [("session-cookie", "sid")],
            .unavailable,
            fails: "the server set no valid cookie sid (status 302)"),
        Case(
            "the session's cookie with the value that the page before had set", .page("Hello", cookie),
            ["/start": .page("Log in", cookie)], [("session-cookie", "sid"), ("page", "/start")], .unavailable,
            fails: "the server set no valid cookie sid (status 200)"),
        Case(
            "the session's cookie, and a probe that knows nobody", .redirect("/home", cookie),
            home.merging(["/me": .init(status: 401)]) { $1 }, [("session-cookie", "sid"), ("probe", "/me")],
            fails: "the server doesn't know the session at /me (status 401)"),
        // 3: the probe.
        Case(
            "a probe", .redirect("/gone", cookie), ["/me": .page("Ada")], [("probe", "/me")],
            requests: ["POST /login", "GET /gone", "GET /me"]),
        Case(
            "a redirect to the probe", .redirect("/me", cookie), ["/me": .page("Ada")], [("probe", "/me")],
            requests: ["POST /login", "GET /me"]),
        Case(
            "a probe with the cookie of the page before", .page("Hello"),
            ["/me": .page("Ada"), "/start": .page("Log in", cookie)], [("probe", "/me"), ("page", "/start")]),
        Case(
            "a probe without any cookie", .page("Hello"), ["/me": .page("Ada")], [("probe", "/me")], .unavailable,
            fails: "the server set no valid cookie (status 200)"),
        Case(
            "a probe that shows the form", .page("Hello", cookie), ["/me": .page(form)], [("probe", "/me")],
            fails: "the server doesn't know the session at /me (status 200)"),
        Case(
            "a probe that redirects to the form", .page("Hello", cookie),
            ["/me": .redirect("/login?next=/me"), "/login?next=/me": .page("Log in")], [("probe", "/me")],
            fails: "the server doesn't know the session at /me, which led to /login (status 200)"),
        Case(
            "a probe with a field for a password", .redirect("/home", cookie),
            home.merging(["/me": .page("Ada<form method=post action=/me><input name=password><input name=again></form>")]) { $1 },
            [("probe", "/me")], .unavailable,
            fails: "the probe /me is a page with the field password, which doesn't say whether the login succeeded"),
        Case(
            "a probe that redirects to an address that only begins like it", .page("Hello", cookie),
            ["/me": .redirect("/members"), "/members": .page("Become one")], [("probe", "/me")],
            fails: "the server doesn't know the session at /me, which led to /members (status 200)"),
        Case(
            "a probe that redirects to an address below it", .page("Hello", cookie),
            ["/me": .redirect("/me/profile"), "/me/profile": .page("Ada")], [("probe", "/me")]),
        Case(
            "a probe that is forbidden", .page("Hello", cookie), ["/me": .init(status: 403)], [("probe", "/me")],
            fails: "the server doesn't know the session at /me (status 403)"),
        Case(
            "a probe of a server in trouble", .page("Hello", cookie), ["/me": .init(status: 503)], [("probe", "/me")],
            .unavailable,
            fails: "the server can't say now whether the session is valid (status 503)"),
        Case(
            "a probe with a sign", .page("Hello", cookie), ["/me": .json(200, #"{"user":null}"#)],
            [("probe", "/me"), ("probe-success", "json:user")], fails: "the server doesn't know the session at /me (status 200)"),
        Case(
            "a probe with a sign that holds", .page("Hello", cookie), ["/me": .json(403, #"{"user":"ada"}"#)],
            [("probe", "/me"), ("probe-success", "json:user")]),
        Case(
            "a page with a form to change the password, and a probe", .redirect("/settings", cookie),
            ["/settings": .page("<form method=post><input type=password name=new_password></form>"), "/me": .page("Ada")],
            [("probe", "/me")]),
        // 5: the page of the response.
        Case(
            "a page at the login's own address, and a cookie", .page("Incorrect username and/or password", cookie), [:], [],
            requests: ["POST /login"], .unavailable,
            fails: "the login led to /login with status 200, which doesn't say whether it succeeded; set probe"),
        Case("a response that is no page, and a cookie", .init(headers: [cookie]), requests: ["POST /login"]),
        Case("JSON and a cookie", .json(200, #"{"user":"ada","code":0}"#, cookie), requests: ["POST /login"]),
        Case("JSON with a status", .json(200, #"{"status":401}"#, cookie), fails: "the server refused (status 200)"),
        Case("JSON with the status of a server in trouble", .json(200, #"{"status":503}"#, cookie)),
        Case("JSON with a code", .json(200, #"{"code":403}"#, cookie), fails: "the server refused (status 200)"),
        Case(
            "a redirect to a page that asks for a code", .redirect("/two-factor", cookie),
            ["/two-factor": .page("<form method=post><input name=pin autocomplete=one-time-code></form>")], [], .unavailable,
            fails: "the page after the login, /two-factor, asks for a one-time code: set mfa-code=pin and mfa-when=field:pin"),
        Case(
            "a session cookie and a redirect to a page that asks for a code", .redirect("/two-factor", cookie),
            ["/two-factor": .page("<form method=post><input name=pin autocomplete=one-time-code></form>")],
            [("session-cookie", "sid")], .unavailable, fails: "asks for a one-time code: set mfa-code=pin"),
        Case(
            "a probe that leads to a page below it that asks for a code", .page("Hello", cookie),
            [
                "/me": .redirect("/me/two-factor"),
                "/me/two-factor": .page("<form method=post><input name=pin autocomplete=one-time-code></form>"),
            ], [("probe", "/me")], .unavailable, fails: "asks for a one-time code: set mfa-code=pin"),
        Case("a redirect to a page", .redirect("/home", cookie), home, requests: ["POST /login", "GET /home"]),
        Case(
            "two redirects to a page", .redirect("/a", cookie), home.merging(["/a": .redirect("home")]) { $1 },
            requests: ["POST /login", "GET /a", "GET /home"]),
        Case("a page without a cookie", .page("Hello"), [:], [], .unavailable, fails: "set probe to an address"),
        Case("a redirect without a cookie", .redirect("/home"), home, [], .unavailable, fails: "set probe to an address"),
        Case(
            "a cookie and a redirect to an error", .redirect("/gone", cookie), [:], [], .unavailable,
            fails: "the login led to /gone with status 404, which doesn't say whether it succeeded; set probe"),
        Case(
            "a cookie and a redirect to a form elsewhere", .redirect("/signin", cookie), ["/signin": .page(form)],
            fails: "the server showed the login page again"),
        Case(
            "a cookie and redirects back to the form", .redirect("/home", cookie),
            ["/home": .redirect("/login"), "/login": .page("Log in, please")], fails: "the login page"),
        // Misspelt settings must not turn a refusal into a login.
        Case(
            "a form whose password field has another name",
            .page("<form method=post><input name=user><input type=password name=pwd></form>", cookie), [:], [], .unavailable,
            fails: "asks for a password, but has no field password: correct password-field"),
        Case(
            "a redirect to a form whose password field has another name", .redirect("/signin", cookie),
            ["/signin": .page("<form method=post><input name=user><input type=password name=pwd></form>")], [], .unavailable,
            fails: "asks for a password, but has no field password: correct password-field"),
        // Many frameworks set their session cookie with each response.
        Case(
            "a new session cookie, and a redirect back to the form", .redirect("/login", cookie), ["/login": .page(form)],
            [("session-cookie", "sid"), ("page", "/login")], fails: "the server showed the login page again"),
        Case(
            "a new session cookie, and a redirect back to the form's own page", .redirect("/signin", cookie),
            ["/signin": .page(form)], [("session-cookie", "sid"), ("page", "/signin")],
            fails: "the server showed the login page again"),
        Case(
            "a new session cookie, and the login's page without its form", .redirect("/login?locked", cookie),
            ["/login": .page(form), "/login?locked": .page("Too many attempts")],
            [("session-cookie", "sid"), ("page", "/login")],
            fails: "the server led back to the login page"),
        Case(
            "a new session cookie, and the form's own page without its form", .redirect("/signin?locked", cookie),
            ["/signin": .page(form), "/signin?locked": .page("Too many attempts")],
            [("session-cookie", "sid"), ("page", "/signin")], .unavailable,
            fails: "the login led to /signin with status 200, which doesn't say whether it succeeded"),
        Case(
            "the site's start, whose form nobody saw", .redirect("/", cookie), ["/": .page("<div id=app></div>")],
            [("page", "/")], .unavailable, fails: "the login led to / with status 200, which doesn't say whether it succeeded"),
        Case(
            "a new session cookie, and a home page with a field for a password", .redirect("/home", cookie),
            ["/home": .page("<form method=post action=/users><input name=name><input name=password></form>")],
            [("session-cookie", "sid")]),
        Case(
            "a new session cookie, and a home page that is forbidden", .redirect("/home", cookie),
            ["/home": .init(status: 403)], [("session-cookie", "sid")], .unavailable,
            fails: "the login led to /home with status 403"),
        Case(
            "a new session cookie, and a home page that is too large", .redirect("/home", cookie),
            ["/home": .page(String(repeating: "x", count: (1 << 20) + 1))], [("session-cookie", "sid")]),
        Case(
            "a new session cookie, and a page of the login that is too large", .redirect("/login?failed", cookie),
            ["/login?failed": .page(String(repeating: "x", count: 1 << 20) + form)], [("session-cookie", "sid")], .unavailable,
            fails: "1048576"),
        Case(
            "a new session cookie, and a page before a second factor that is too large", .redirect("/home", cookie),
            ["/home": .page(String(repeating: "x", count: (1 << 20) + 1))],
            [("session-cookie", "sid"), ("mfa-when", "field:otp")],
            .unavailable, fails: "1048576"),
        Case(
            "a probe that shows a form that goes elsewhere", .page("Hello", cookie),
            ["/me": .page(form.replacing("/login", with: "/check"))], [("probe", "/me")],
            fails: "the server doesn't know the session at /me (status 200)"),
        Case(
            "a page that asks for a code, before a probe that knows nobody", .redirect("/two-factor", cookie),
            ["/two-factor": .page("<form><input name=pin autocomplete=one-time-code></form>"), "/me": .init(status: 401)],
            [("probe", "/me")], .unavailable, fails: "asks for a one-time code: set mfa-code=pin"),
        Case(
            "a probe, and a page at the login's address after the login", .redirect("/login?home", cookie),
            ["/login?home": .page("Hello"), "/me": .page("Ada")], [("probe", "/me")]),
        Case(
            "a probe that knows nobody, and a page at the login's address", .redirect("/login?locked", cookie),
            ["/login?locked": .page("Too many attempts"), "/me": .init(status: 401)], [("probe", "/me")],
            fails: "the server led back to the login page"),
        Case(
            "a probe, and a page after the login with a field for a password", .redirect("/expired", cookie),
            [
                "/expired": .page("<form method=post action=/change><input name=password><input name=again></form>"),
                "/me": .page("Ada"),
            ], [("probe", "/me")]),
        Case(
            "a cookie and a redirect that never ends", .redirect("/home", cookie), ["/home": .redirect("/home")], [],
            .unavailable,
            fails: "the login led to /home with status 302, which doesn't say whether it succeeded; set probe"),
    ]

    @Test(arguments: cases)
    func `A login succeeds by the first rule that applies`(test: Case) async throws {
        let server = try test.site.server()
        let session = try CookieLogins.session(at: server, test.settings)
        if let words = test.words {
            let failure = try await CookieLogins.failure(of: session)
            #expect(failure.status == test.status, "\(failure.message)")
            #expect(failure.message.contains(words), "\(failure.message)")
            #expect(try await session.tokenStorage.load() == nil)
        } else {
            try await session.login()
            #expect(try await session.tokenStorage.load() != nil)
        }
        if let requests = test.requests { #expect(server.requests.map(\.line) == requests) }
        #expect(server.requests.count { $0.method == "POST" } == 1)
    }

    /// Otherwise, the user would lose a session because of a busy server.
    @Test(arguments: [(503, true), (429, true), (404, true), (400, false), (401, false)])
    func `A login that says nothing about the password leaves the stored session`(status: Int, isKept: Bool) async throws {
        let isDown = Locked(false)
        let server = try ScriptedServer { request in
            if request.target == "/login" {
                return isDown.withLock { $0 } ? .init(status: status) : .page("Hello", Self.cookie)
            }
            return .init(status: isDown.withLock { $0 } ? 401 : 200)
        }
        let session = try CookieLogins.session(at: server, [("success", "200")])
        let provider = session.provider()
        #expect(try await provider.text("\(server.url)/x").status == 200)
        isDown.withLock { $0 = true }
        _ = try? await provider.text("\(server.url)/x")
        #expect(try await (session.tokenStorage.load() != nil) == isKept)
    }

    /// Drupal, MediaWiki and others route by the query, so their home page has the login's path.
    @Test(arguments: [
        ("/index.php?r=login", "/index.php?r=home", true), ("/index.php?r=login", "/index.php", true),
        ("/index.php?r=login", "/index.php?r=login&failed=1", false),
        ("/index.php?r=login", "/index.php?failed=1&r=login", false),
        ("/?q=user/login", "/", true), ("/login/", "/", true),
    ])
    func `A redirect leads back to the login only if its query says so`(
        login: String, location: String, isLoggedIn: Bool
    ) async throws {
        let server = try ScriptedServer { request in
            request.method == "POST" ? .redirect(location, Self.cookie) : .page("<h1>Hello</h1>")
        }
        let session = try CookieLogins.session(at: server, [("login", login)])
        if isLoggedIn {
            try await session.login()
        } else {
            #expect(try await CookieLogins.failure(of: session).message.contains("led back to the login page"))
        }
    }

    /// A refusal may also lead there, without the form.
    @Test func `The login's address without its form says nothing, and a probe does`() async throws {
        let hasForm = Locked(true)
        let server = try ScriptedServer { request in
            switch request.line {
            case "POST /login":
                hasForm.withLock { $0 = false }
                return .redirect("/login", Self.cookie)
            case "GET /login": return hasForm.withLock { $0 } ? .page(Self.form) : .page("Hello")
            default: return request["Cookie"] == nil ? .redirect("/login") : .page("Ada")
            }
        }
        let settings = [("page", "/login"), ("session-cookie", "sid")]
        let failure = try await CookieLogins.failure(of: CookieLogins.session(at: server, settings))
        #expect(failure.status == .unavailable)
        #expect(failure.message.contains("the login led to /login with status 200, which doesn't say whether it succeeded"))
        hasForm.withLock { $0 = true }
        try await CookieLogins.session(at: server, settings + [("probe", "/me")]).login()
    }

    /// The same site with a probe. The probe's address must not be mistaken for the login's, or the login's for the probe's.
    @Test(arguments: ["/index.php", "/index.php?r=home", "/index.php?r=login&r2=1"])
    func `The login's address is another one than the probe's`(probe: String) async throws {
        let server = try ScriptedServer { request in
            switch request.line {
            case "POST /index.php?r=login":
                request.text.contains("password=right") ? .page("Hello", Self.cookie) : .redirect("/index.php?r=login")
            case "GET \(probe)" where request["Cookie"] == nil: .redirect("/index.php?r=login&back=1")
            default: .page("Hello")
            }
        }
        let settings = [("login", "/index.php?r=login"), ("probe", probe)]
        try await CookieLogins.session(at: server, settings + [("password", "right")]).login()
        let failure = try await CookieLogins.failure(of: CookieLogins.session(at: server, settings))
        #expect(failure.status == .denied)
    }
}
