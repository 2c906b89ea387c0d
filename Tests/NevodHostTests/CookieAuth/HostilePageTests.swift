import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests malicious pages and responses. Each causes limited work and a clear error, and nothing is sent elsewhere.
struct HostilePageTests {
    private static let cookie = "Set-Cookie: sid=1; Path=/"
    private static let form = "<form method=post><input name=username><input type=password name=password></form>"

    private func failure(
        _ server: ScriptedServer, _ settings: [(String, String)] = [("page", "/login")]
    ) async throws -> (status: PluginStatus, message: String) {
        try await CookieLogins.failure(of: CookieLogins.session(at: server, settings))
    }

    @Test func `A form of 10 MiB is refused`() async throws {
        let body = "<form method=post><input type=hidden name=a value='\(String(repeating: "x", count: 10 << 20))'>\(Self.form)"
        let server = try ScriptedServer { _ in .page(body, Self.cookie) }
        let failure = try await failure(server)
        #expect(failure.status == .unavailable)
        #expect(failure.message.contains("1048576") || failure.message.contains("1 MiB"), "\(failure.message)")
        #expect(server.requests.map(\.line) == ["GET /login"])
    }

    @Test(arguments: [
        "<form method=post action='https://evil.example/steal'><input name=password></form>",
        "<form method=post action='//evil.example/steal'><input name=password></form>",
        "<base href='https://evil.example/'><form method=post action=login><input name=password></form>",
        "<base href='//evil.example/'><form method=post action=/login><input name=password></form>",
        "<form method=post action='http://127.0.0.1:1/login'><input name=password></form>",
        "<form method=post action='https&#58;//evil.example'><input name=password></form>",
        "<form method=post action='ht\ntps://evil.example'><input name=password></form>",
    ])
    func `A form that posts to another origin is an error`(page: String) async throws {
        let server = try ScriptedServer { request in request.method == "GET" ? .page(page) : .page("Hello", Self.cookie) }
        let failure = try await failure(server)
        #expect(failure.status == .unavailable)
        #expect(
            failure.message.contains("posts to another origin, ") && failure.message.contains("nothing was sent there"),
            "\(failure.message)")
        #expect(server.requests.map(\.line) == ["GET /login"])
    }

    @Test(arguments: [
        "javascript:send()", "data:text/html,x", "mailto:evil@evil.example", "http://", "http://[::1",
        "https://ada@evil.example/",
    ])
    func `A form without a usable address is an error`(action: String) async throws {
        let server = try ScriptedServer { request in
            request.method == "GET" ? .page("<form action='\(action)'><input name=password></form>") : .page("Hello", Self.cookie)
        }
        let failure = try await failure(server)
        #expect(failure.status == .unavailable)
        #expect(server.requests.map(\.line) == ["GET /login"], "\(failure.message)")
    }

    /// An injected form has the same field, but only the login's form also has the user name's.
    @Test func `A form that isn't the login's is not taken for it`() async throws {
        let injected = "<form action=//evil.example><input name=password><input type=hidden name=evil value=1></form>"
        let server = try ScriptedServer { request in
            request.method == "GET" ? .page(injected + Self.form) : .page("Hello", Self.cookie)
        }
        try await CookieLogins.session(at: server, [("page", "/login"), ("success", "200")]).login()
        #expect(server.requests.map(\.line) == ["GET /login", "POST /login"])
        #expect(!server.requests[1].text.contains("evil"))
    }

    @Test func `A thousand hidden fields are refused`() async throws {
        let fields = (0..<1000).map { "<input type=hidden name=f\($0) value=\($0)>" }.joined()
        let server = try ScriptedServer { _ in .page("<form method=post>\(fields)<input name=password></form>", Self.cookie) }
        let failure = try await failure(server)
        #expect(failure.status == .unavailable)
        #expect(
            failure.message.contains("too many fields") || failure.message.contains("no form with the field"),
            "\(failure.message)")
        #expect(server.requests.map(\.line) == ["GET /login"])
    }

    @Test func `A thousand hidden fields behind the password's are refused`() async throws {
        let fields = (0..<1000).map { "<input type=hidden name=f\($0) value=\($0)>" }.joined()
        let server = try ScriptedServer { _ in .page("<form method=post><input name=password>\(fields)</form>", Self.cookie) }
        #expect(try await failure(server).message == "the form of \(server.url)/login has too many fields, or too long ones")
        #expect(server.requests.map(\.line) == ["GET /login"])
    }

    @Test func `A thousand forms are bounded`() async throws {
        let server = try ScriptedServer { request in
            request.method == "GET"
                ? .page(String(repeating: "<form><input name=q></form>", count: 1000) + Self.form) : .page("Hello", Self.cookie)
        }
        _ = try? await CookieLogins.session(at: server, [("page", "/login")]).login()
        #expect(server.requests.count <= 2)
    }

    /// The body never ends, and the connection stays open.
    @Test(arguments: [true, false])
    func `A login page that never ends is given up`(isFast: Bool) async throws {
        let isDone = Latch()
        defer { isDone.set() }
        let server = try RawServer { connection, _ in
            while connection.readRequest() != nil {
                connection.write("HTTP/1.1 200 X\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
                let chunk = "1000\r\n\(String(repeating: "<input>\n", count: 512))\r\n"
                while connection.write(chunk) { if !isFast { return isDone.waitOnThread() } }
                return
            }
        }
        let settings = [("login", "\(server.url)/login"), ("page", "\(server.url)/login"), ("username", "u"), ("password", "p")]
        let driver = FlowDriver(
            instance: try CookieLogins.instance(settings), session: CurlSession(), interaction: nil,
            limits: FlowLimits(duration: .seconds(isFast ? 600 : 2)))
        let error = await #expect(throws: PluginError.self) { _ = try await driver.run(.login, keep: { _ in }) }
        #expect(error.map { "\($0)" }?.contains(isFast ? "1048576" : "time") == true, "\(String(describing: error))")
    }

    @Test(arguments: ["/me", "/a"])
    func `A probe that redirects to another origin lets nobody in, and isn't followed there`(first: String) async throws {
        let server = try ScriptedServer { request in
            switch request.target {
            case "/login": .page("Hello", Self.cookie)
            case "/me" where first != "/me": .redirect(first)
            default: .redirect("https://evil.example/me?token=1")
            }
        }
        let failure = try await failure(server, [("probe", "/me")])
        #expect(failure.status == .denied)
        let place = first == "/me" ? "/me" : "/me, which led to \(first)"
        #expect(
            failure.message.contains("the server doesn't know the session at \(place) (status 302)"), "\(failure.message)")
        #expect(!failure.message.contains("token"))
    }

    @Test func `A probe that redirects forever is an error`() async throws {
        let server = try ScriptedServer { request in
            request.target == "/login" ? .page("Hello", Self.cookie) : .redirect(request.target + "x")
        }
        #expect(
            try await failure(server, [("probe", "/me")]).message.contains("session at /me, which led to /mexxxxx (status 302)"))
        #expect(server.requests.count < 10)
    }

    @Test(arguments: ["[", #"{"error":"#, #"{"message":["#, #"[{"a":"#], [200, 400, 401])
    func `10,000 nested values are refused`(opening: String, status: Int) async throws {
        let closing = String(opening.reversed().compactMap { $0 == "[" ? "]" : $0 == "{" ? "}" : nil })
        let depth = 10_000
        let body = String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)
        let server = try ScriptedServer { _ in .json(status, body, Self.cookie) }
        let failure = try await failure(server, [("format", "json")])
        #expect(
            failure.message.contains("nested too deeply") || failure.message.contains("the server refused (status \(status))"))
        #expect(server.requests.count == 1)
    }

    // ServerWordsReaderTests, HTMLPageTests and PatternTests measure how the work for such responses grows.
    @Test(arguments: [
        #"{"errors":[\#(String(repeating: #"{"a":1},"#, count: 20_000))0]}"#,
        "{" + (0..<12_000).map { #""k\#($0)":{}"# }.joined(separator: ",") + "}",
        "[" + String(repeating: "[],", count: 60_000) + "0]", #"{"message":"\#(String(repeating: " ", count: 1_000_000))x"}"#,
    ])
    func `Large JSON without words is a refusal`(body: String) async throws {
        let server = try ScriptedServer { _ in .json(401, body) }
        #expect(try await failure(server, [("format", "json")]).status == .denied)
    }

    @Test(arguments: [
        String(repeating: "<div class=error>", count: 10_000), String(repeating: "<div class='alert'>x</div>", count: 7_000),
        String(repeating: "<form><input name=a>", count: 10_000), String(repeating: "&", count: 1_000_000),
        String(repeating: "<form action='", count: 14_000), String(repeating: "<select><option>", count: 12_000),
    ])
    func `A large page is a refusal`(body: String) async throws {
        let server = try ScriptedServer { _ in .page(body, status: 401) }
        #expect(try await failure(server, []).status == .denied)
    }

    @Test func `Texts that almost match are no sign and no token`() async throws {
        let near = String(repeating: "a", count: 500_000)
        let server = try ScriptedServer { request in request.method == "GET" ? .page(near) : .page(near, Self.cookie) }
        let wanted = String(repeating: "a", count: 2000) + "b"
        let settings = [("csrf", "text"), ("csrf-name", wanted + "*c"), ("page", "/login")]
        #expect(try await failure(server, settings).message.contains("has no CSRF token"))
        #expect(try await failure(server, [("success", "body:\(wanted)")]).status == .denied)
    }

    @Test func `Pages before the login that redirect to another origin get no password`() async throws {
        let server = try ScriptedServer { _ in .redirect("https://evil.example/login") }
        #expect(try await failure(server).message.contains("to another origin, https://evil.example;"))
        #expect(server.requests.map(\.line) == ["GET /login"])
    }
}
