import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests which of a server's words a login's error repeats.
struct ServerWordsTests {
    private func message(
        _ response: ScriptedServer.Response, password: String = "s3cret-9", pages: [String: ScriptedServer.Response] = [:]
    ) async throws -> String {
        let server = try ScriptedServer { pages[$0.line] ?? response }
        let failure = try await CookieLogins.failure(of: CookieLogins.session(at: server, [("password", password)]))
        #expect(failure.status == .denied)
        return failure.message
    }

    @Test(arguments: [
        (#"{"message":"Invalid credentials."}"#, "Invalid credentials."),
        (#"{"error":"invalid_grant","error_description":"Bad user"}"#, "Bad user"),
        (#"{"error":{"code":401,"message":"Bad user"}}"#, "Bad user"), (#"{"error":true,"message":"Bad user"}"#, "Bad user"),
        (#"{"detail":"Bad user"}"#, "Bad user"), (#"{"detail":[{"loc":["body"],"msg":"Too short"}]}"#, "Too short"),
        (#"{"non_field_errors":["Unable to log in with provided credentials."]}"#, "Unable to log in with provided credentials."),
        (#"{"errors":["First","Second"]}"#, "First"), (#"{"errors":[{"message":"Bad user"}]}"#, "Bad user"),
        (#"{"errors":{"email":["Unknown address"]}}"#, "Unknown address"),
        (#"{"meta":{"code":401},"response":{"errors":["Invalid password"],"field_errors":{}}}"#, "Invalid password"),
        (#"{"type":"about:blank","title":"Unauthorized","status":401,"detail":"Wrong password"}"#, "Wrong password"),
        (#"{"title":"Unauthorized"}"#, "Unauthorized"),
        (#"{"status":400,"errors":[{"message":"Wrong","param":"password"}]}"#, "Wrong"),
        (#"{"message":"","detail":"  \n ","error":"Bad user"}"#, "Bad user"), (#"{"message":" a \r\n\t b "}"#, "a b"),
        (#"[{"message":"Bad user"}]"#, "Bad user"),
    ])
    func `The words are found in JSON`(body: String, words: String) async throws {
        #expect(
            try await message(.json(400, body))
                == "the server refused (status 400), saying \"\(words)\": is the user name or the password wrong?")
    }

    @Test(arguments: [
        #"{}"#, #"{"message":null}"#, #"{"message":42}"#, #"{"message":{}}"#, #"[]"#, #""text""#,
        #"{"a":{"b":{"c":{"d":{"e":{"f":{"message":"x"}}}}}}}"#,
    ])
    func `JSON without words is a refusal without words`(body: String) async throws {
        #expect(try await message(.json(401, body)) == "the server refused (status 401): is the user name or the password wrong?")
    }

    @Test(arguments: [
        #"<div class="alert alert-danger">Invalid &amp; wrong</div>"#, #"<ul class=errorlist><li>Invalid &#38; wrong</li></ul>"#,
        #"<p role="alert">Invalid <b>&amp;</b>  wrong</p>"#,
        #"<div id="flash-messages"><script>x()</script>Invalid &amp; wrong</div>"#,
        #"<div class=alert hidden>Not this</div><div class=error>Invalid &amp; wrong</div>"#,
    ])
    func `The words are found in the page's alert`(alert: String) async throws {
        let page = "<h1>Log in</h1>\(alert)<form method=post><input name=username><input name=password type=password></form>"
        #expect(
            try await message(.page(page))
                == "the server showed the login page again, saying \"Invalid & wrong\": is the user name or the password wrong?")
        #expect(
            try await message(.page(page, status: 401)).hasPrefix("the server refused (status 401), saying \"Invalid & wrong\""))
    }

    @Test func `The words are found on the page that a redirect leads back to`() async throws {
        let pages = ["GET /login?e=1": ScriptedServer.Response.page("<p class=error>No such user</p><input name=password>")]
        #expect(try await message(.redirect("/login?e=1"), pages: pages).contains(", saying \"No such user\""))
    }

    @Test func `The words behind a sign of failure by redirect are found`() async throws {
        let server = try ScriptedServer { request in
            request.method == "POST" ? .redirect("/failed", "Set-Cookie: sid=1") : .page("<p class=error>No such user</p>")
        }
        let session = try CookieLogins.session(at: server, [("failure", "location:/failed")])
        #expect(
            try await CookieLogins.failure(of: session).message.contains(
                "the server refused (status 302), saying \"No such user\""))
    }

    /// A server error in the second response must not hide that the login was refused.
    @Test func `Without the page of the words, the refusal is told`() async throws {
        let server = try ScriptedServer { request in
            request.method == "POST" ? .redirect("/failed", "Set-Cookie: sid=1") : .redirect("https://other.example/")
        }
        let session = try CookieLogins.session(at: server, [("failure", "location:/failed")])
        let failure = try await CookieLogins.failure(of: session)
        #expect(failure == (.denied, "the server refused (status 302): is the user name or the password wrong?"))
    }

    // MARK: Nothing secret and nothing harmful

    private static let secret = "pass word/äö&<1234"

    @Test(arguments: [
        #"{"message":"wrong: pass word/äö&<1234!"}"#, #"{"message":"pass word/äö&<1234"}"#,
        #"{"message":"wrong: pass \n word/äö&<1234!"}"#, #"{"errors":{"password":["pass word/äö&<1234 is too short"]}}"#,
        #"{"message":"pass word/\u00e4\u00f6&<1234"}"#,
    ])
    func `Words that repeat the password are left out`(body: String) async throws {
        #expect(!(try await message(.json(400, body), password: Self.secret)).contains("pass word"))
    }

    /// Where the words are cut, no more of the password may remain than an ordinary word could share with it.
    @Test(arguments: 180...204)
    func `Words that are cut within the password are left out`(count: Int) async throws {
        let filler = String(repeating: "x", count: count)
        for response in [
            ScriptedServer.Response.json(400, #"{"message":"\#(filler) pass word/äö&<1234"}"#),
            .page("<p class=error>\(filler) pass word/äö&amp;&lt;1234</p>", status: 400),
        ] { #expect(!(try await message(response, password: Self.secret)).contains("x pass")) }
    }

    @Test(arguments: [
        "wrong: pass word/äö&amp;&lt;1234", "wrong: <b>pass</b> word/äö&#38;&#60;1234", "wrong: pass<br>word/äö&amp;&lt;1234",
    ])
    func `An alert that repeats the password is left out`(alert: String) async throws {
        let page = "<p class=error>\(alert)</p><input name=username><input name=password>"
        #expect(
            try await message(.page(page), password: Self.secret)
                == "the server showed the login page again: is the user name or the password wrong?")
    }

    /// Terminal escapes, C1 controls, and characters that change the text's direction or are invisible.
    @Test(arguments: [
        "\u{1B}[2J", "\u{1B}]0;title\u{7}", "\u{9B}31m", "\u{202E}", "\u{2066}", "\u{200F}", "\u{61C}", "\u{2028}", "\u{2029}",
        "\u{7F}", "\u{0}", "\u{85}",
    ])
    func `The words control no terminal`(text: String) async throws {
        let escaped = text.utf16.map { unit in "\\u" + format(unit) }.joined()
        let json = try await message(.json(400, #"{"message":"Wrong\#(escaped)!"}"#))
        let references = text.unicodeScalars.map { "&#\($0.value);" }.joined()
        let page = try await message(.page("<p class=error>Wrong\(references)!</p><p class=error>Wrong\(text)!</p>", status: 400))
        for message in [json, page] {
            #expect(message.contains("saying \"Wrong"))
            let unsafe = message.unicodeScalars.filter { $0.value < 0x20 || text.unicodeScalars.contains($0) && $0.value >= 0x7F }
            #expect(unsafe.isEmpty, "\(unsafe.map { $0.value })")
        }
    }

    private func format(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    @Test(arguments: [100, 199, 200, 201, 5000])
    func `The words have at most 200 bytes`(count: Int) async throws {
        let text = String(repeating: "x", count: count)
        for response in [
            ScriptedServer.Response.json(400, #"{"message":"\#(text)"}"#), .page("<p class=error>\(text)</p>", status: 400),
        ] {
            let message = try await message(response)
            let words = message.split(separator: "\"")[1]
            #expect(count <= 200 ? words == text : words.hasPrefix(text.prefix(190)) && words.hasSuffix("…"), "\(words)")
            #expect(words.utf8.count <= 203)
        }
    }
}
