import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests the requests of a login by form: the page before it, the form's fields, its address, and its header lines.
struct LoginFormTests {
    private static let cookie = "Set-Cookie: sid=1; Path=/"

    private func logIn(
        _ form: String, _ settings: [(String, String)] = [("page", "/login")], page: ScriptedServer.Response? = nil
    ) async throws -> [ScriptedServer.Request] {
        let server = try ScriptedServer { request in
            request.method == "GET" ? page ?? .page(form) : .page("Hello", Self.cookie)
        }
        try await CookieLogins.session(at: server, settings + [("success", "200")]).login()
        return server.requests
    }

    /// The entry list of a form (HTML §4.10.22.4).
    @Test(arguments: [
        ("<input type=hidden name=a value=1><input type=hidden name=b>", "a=1&b="),
        ("<input name=text value='a b'><input type=email name=mail value=x@y>", "text=a+b&mail=x%40y"),
        (
            "<input type=checkbox name=c1 checked><input type=checkbox name=c2><input type=checkbox name=c3 value=v checked>",
            "c1=on&c3=v"
        ),
        ("<input type=radio name=r value=1><input type=radio name=r value=2 checked>", "r=2"),
        ("<select name=s><option value=1>x<option value=2 selected>y</select>", "s=2"),
        ("<select name=s><option>first<option>second</select>", "s=first"),
        ("<textarea name=t>\nlong text</textarea>", "t=long+text"),
        ("<input type=hidden name=off value=1 disabled><fieldset disabled><input name=off2 value=1></fieldset>", ""),
        ("<input type=submit name=go value=Go><input type=submit name=register value=Register>", "go=Go"),
        ("<button name=go value=1>Go</button><button name=other>Other</button>", "go=1"),
        (
            "<input type=reset name=x value=1><input type=button name=y value=1><input type=file name=z><input type=image name=i>",
            ""
        ),
        ("<input type=hidden value=nameless><input type=hidden name='' value=1>", ""),
        ("<input type=hidden name='a&amp;b' value='&lt;&quot;&#x20AC;&copy;'>", "a%26b=%3C%22%E2%82%AC%C2%A9"),
        ("<!-- <input type=hidden name=no value=1> --><script>'<input type=hidden name=no value=1>'</script>", ""),
        ("<input type=hidden name=dup value=1><input type=hidden name=dup value=2>", "dup=1&dup=2"),
    ])
    func `The form's other fields are sent as a browser sends them`(fields: String, sent: String) async throws {
        let requests = try await logIn(
            """
            <form action=/search><input type=hidden name=search value=no></form>
            <form method=post>\(fields)<input name=username value=old><input type=password name=password></form>
            <form method=post><input type=hidden name=later value=no></form>
            """)
        #expect(requests.map(\.line) == ["GET /login", "POST /login"])
        let names = ["username", "password"]
        let others = requests[1].text.split(separator: "&").filter { field in !names.contains { field.hasPrefix("\($0)=") } }
        #expect(others.joined(separator: "&") == sent)
        #expect(requests[1].text.contains("username=u") && requests[1].text.contains("password=p"))
    }

    @Test func `Settings replace the form's fields, and add others`() async throws {
        let requests = try await logIn(
            "<form><input type=hidden name=keep value=1><input type=hidden name=next value=/>"
                + "<input name=username><input name=password></form>",
            [("page", "/login"), ("field", "next=/home"), ("field", "extra=2")])
        #expect(requests[1].text == "keep=1&next=%2Fhome&username=u&password=p&extra=2")
    }

    @Test func `A login as JSON takes nothing from the page's form`() async throws {
        let requests = try await logIn(
            "<form><input type=hidden name=a value=1><input name=username><input name=password></form>",
            [("page", "/start"), ("format", "json"), ("session-cookie", "sid")], page: nil)
        #expect(requests.map(\.text) == ["", #"{"username":"u","password":"p"}"#])
    }

    /// Tomcat responds with an error to a form that nobody has opened.
    @Test(arguments: [false, true])
    func `A page is fetched first, whether it has a form or not`(hasForm: Bool) async throws {
        let server = try ScriptedServer { request in
            switch request.line {
            case "GET /protected" where request["Cookie"] == "sid=1": .page("Hello")
            case "GET /protected":
                .page(
                    hasForm ? "<form action=j_security_check><input name=password></form>" : "Hello", "Set-Cookie: sid=0; Path=/")
            case "POST /j_security_check":
                request["Cookie"] == "sid=0" ? .redirect("/protected", Self.cookie) : .page("open the page first", status: 408)
            default: .init(status: 404)
            }
        }
        try await CookieLogins.session(
            at: server, [("login", "/j_security_check"), ("page", "/protected"), ("probe", "/protected")]
        )
        .login()
        #expect(server.requests[1]["Referer"] == "\(server.url)/protected")
        #expect(server.requests[1]["Origin"] == server.url)
    }

    @Test func `The error for a page without the login's form names it`() async throws {
        let server = try ScriptedServer { _ in .page("<form><input name=other></form>") }
        let failure = try await CookieLogins.failure(of: CookieLogins.session(at: server, [("page", "/login?a=b")]))
        #expect(failure.status == .denied || failure.status == .unavailable)
        let own = try await CookieLogins.failure(of: CookieLogins.session(at: server, [("page", "/login")]))
        #expect(own == (.unavailable, "the page \(server.url)/login has no form with the field password (status 200)"))
    }

    // MARK: The address

    @Test(arguments: [
        ("", "/login"), ("action=''", "/login"), ("action=/session", "/session"), ("action='auth?x=1'", "/auth?x=1"),
        ("action='?step=2&amp;a=b'", "/login?step=2&a=b"), ("action='  /session  '", "/session"), ("action='a/../b/./c'", "/b/c"),
    ])
    func `The form of the login's own page says where it goes`(action: String, target: String) async throws {
        let requests = try await logIn("<form method=post \(action)><input name=username><input name=password></form>")
        #expect(requests.map(\.target) == ["/login", target])
    }

    @Test func `An action is relative to the page's base element`() async throws {
        let requests = try await logIn("<base href='/app/sub/'><form method=post action=go><input name=password></form>")
        #expect(requests.last?.target == "/app/sub/go")
    }

    @Test func `The settings' word counts for a form on another page`() async throws {
        let requests = try await logIn(
            "<form action=/elsewhere><input type=hidden name=t value=1><input name=password></form>", [("page", "/form")])
        #expect(requests.map(\.target) == ["/form", "/login"])
        #expect(requests[1].text == "t=1&password=p&username=u")
    }

    @Test func `A login's page that redirects within its origin is followed, with its cookies`() async throws {
        let server = try ScriptedServer { request in
            switch request.line {
            case "GET /login": .redirect("/en/login", "Set-Cookie: lang=en; Path=/")
            case "GET /en/login": .page("<form method=post><input name=password></form>")
            default: .page("Hello", Self.cookie)
            }
        }
        try await CookieLogins.session(at: server, [("page", "/login"), ("success", "200")]).login()
        #expect(server.requests.map(\.line) == ["GET /login", "GET /en/login", "POST /en/login"])
        #expect(server.requests.dropFirst().allSatisfy { $0["Cookie"] == "lang=en" })
    }

    @Test(arguments: [
        ("/wiki", "login.php", "/wiki/login.php"), ("/wiki/", "login.php", "/wiki/login.php"), ("/wiki", "/login", "/login"),
        ("/wiki/", "?r=login", "/wiki/?r=login"), ("", "login", "/login"), ("/wiki", "../login", "/login"),
        ("/wiki", "a/./b?c=d/e", "/wiki/a/b?c=d/e"),
    ])
    func `An address is relative to the site's`(site: String, login: String, target: String) async throws {
        let server = try ScriptedServer { _ in .page("Hello", Self.cookie) }
        let session = try CookieLogins.session([
            ("site", server.url + site), ("login", login), ("username", "u"), ("password", "p"), ("probe", "me"),
        ])
        try await session.login()
        #expect(server.requests.map(\.target) == [target, site.hasPrefix("/wiki") ? "/wiki/me" : "/me"])
    }

    @Test(arguments: ["login", "page", "probe", "logout", "mfa"])
    func `A relative address without the site's is refused with the setting's name`(name: String) throws {
        let login = name == "login" ? [] : [("login", "http://h/login")]
        let error = try #require(throws: PluginError.self) { try CookieLogins.instance(login + [(name, "sub/page")]) }
        #expect("\(error)".contains(name) && "\(error)".contains("site"), "\(error)")
    }

    // MARK: Header lines

    @Test func `A header goes with all requests, a login-header with the login's alone`() async throws {
        let server = try ScriptedServer { request in
            request.method == "GET" && request.path == "/login"
                ? .page("<form method=post><input name=password></form>") : .page("Hello", Self.cookie)
        }
        let session = try CookieLogins.session(
            at: server,
            [
                ("page", "/login"), ("probe", "/me"), ("logout", "/out"), ("header", "X-App: one"), ("header", "X-Two:two"),
                ("login-header", "X-Requested-With: XMLHttpRequest"), ("login-header", "Accept: text/x-own"),
            ])
        try await session.login()
        _ = try await session.provider().text("\(server.url)/x")
        #expect(server.requests.map(\.line) == ["GET /login", "POST /login", "GET /me", "GET /x"])
        #expect(server.requests.allSatisfy { $0["X-App"] == "one" && $0["X-Two"] == "two" })
        #expect(server.requests.map { $0["X-Requested-With"] != nil } == [true, true, true, false])
        #expect(server.requests.prefix(3).allSatisfy { $0["Accept"] == "text/x-own" })
    }

    @Test func `A header of the session isn't sent to a host that gets none of its cookies`() async throws {
        let (server, other) = (try ScriptedServer { _ in .page("Hello", Self.cookie) }, try ScriptedServer())
        let session = try CookieLogins.session(at: server, [("header", "X-App: one"), ("success", "200")])
        try await session.login()
        _ = try await session.provider().text(other.url.replacing("127.0.0.1", with: "localhost") + "/x")
        #expect(other.requests.count == 1)
        #expect(other.requests.allSatisfy { $0["X-App"] == nil && $0["Cookie"] == nil })
    }

    /// For example, the host of a page, which another company may run.
    @Test func `A flow's requests to other origins get no header lines`() async throws {
        let server = try ScriptedServer { _ in .page("Hello", Self.cookie) }
        let other = try ScriptedServer { _ in .page("Hello") }
        let elsewhere = other.url.replacing("127.0.0.1", with: "localhost")
        let session = try CookieLogins.session(
            at: server,
            [("header", "X-App: one"), ("login-header", "X-Login: two"), ("page", "\(elsewhere)/page"), ("success", "200")])
        try await session.login()
        #expect(other.requests.map(\.line) == ["GET /page"])
        #expect(other.requests.allSatisfy { $0["X-App"] == nil && $0["X-Login"] == nil })
        #expect(server.requests.map(\.line) == ["POST /login"])
        #expect(server.requests.allSatisfy { $0["X-App"] == "one" && $0["X-Login"] == "two" })
    }

    /// A line may be secret, and a cookie of the site may not belong to the session.
    @Test(
        arguments: [
            ("https://h.example/", [], true), ("http://h.example/", [], false), ("https://api.h.example/", [], true),
            ("https://api.h.example/", [("session-cookie", "sid")], false),
            ("https://h.example/", [("session-cookie", "sid")], true),
        ] as [(String, [(String, String)], Bool)])
    func `A header goes where the session goes, and never without TLS`(
        url: String, settings: [(String, String)], isSent: Bool
    ) throws {
        let instance = try CookieLogins.instance([("login", "https://h.example/login"), ("header", "X-App: one")] + settings)
        let bytes = Secret("1\nhs\t\th.example\t/\tsid\t1\n\t\th.example\t/\tlang\tde\n")
        let token = PluginToken(IssuedToken(bytes: bytes, expiresAt: nil, account: ""), of: instance)
        var request = try HTTPRequest(.get, url)
        try token.authorize(&request)
        #expect(request.headers["Cookie"]?.contains("lang=de") == true)
        #expect((request.headers["X-App"] != nil) == isSent)
    }

    @Test(arguments: ["X-App", ": value", "X App: v", "X-App: a\u{1}b", "X-Äpp: v", ""])
    func `A malformed header line is refused with the setting's name`(line: String) throws {
        for name in ["header", "login-header"] {
            let error = try #require(throws: PluginError.self) {
                try CookieLogins.instance([("login", "http://h/login"), (name, line)])
            }
            guard case .failed("cookie", "create", 1, name, "must be NAME: VALUE, a header line", nil) = error.reason else {
                Issue.record("\(error)")
                continue
            }
        }
    }

    @Test func `A site without user names gets none`() async throws {
        let requests = try await logIn(
            "<form method=post><input name=password></form>", [("page", "/login"), ("username-field", "")])
        #expect(requests[1].text == "password=p")
    }
}
