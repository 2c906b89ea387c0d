import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests for which responses to a login the conditions of signs hold.
struct CookieSignTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var sign: String
        var holds: Bool
        var response: ScriptedServer.Response
        var testDescription: String { "\(sign) \(holds) \(response.status) \(response.headers) \(response.body)" }
    }

    private static let cookie = "Set-Cookie: sid=1; Path=/"

    private static func table(
        _ response: ScriptedServer.Response, holding: [String], failing: [String]
    ) -> [Case] {
        holding.map { Case(sign: $0, holds: true, response: response) }
            + failing.map { Case(sign: $0, holds: false, response: response) }
    }

    static let cases: [Case] =
        table(
            .page("<p>Hello, Ada</p><form><input name=q></form>", cookie, "X-User: ada l", "X-User: second"),
            holding: [
                "200", "2xx", "status:200", "status:2xx", "!302", "!status:4xx", "200 !302", "  200   2xx  ",
                "cookie:sid", "cookie:s*", "cookie:*", "cookie:*d", "cookie:s*d", "!cookie:other", "!deleted:sid",
                "header:X-User=ada*", "header:x-user=second", "header:X-User", "header:X-User=*",
                #"header:X-User="ada l""#, #"header:X-User="*a l""#, #""header:X-User=ada l""#, "!header:X-Other",
                "body:Ada", #"body:"Hello, Ada""#, #"!body:"Hello,  Ada""#, "!body:ada", "field:q", "!field:password",
                "200 cookie:sid !field:password body:Ada", "!location:*", "!json:a",
            ],
            failing: [
                "201", "3xx", "!200", "!2xx", "200 302", "cookie:SID", "cookie:si", "cookie:*x", "cookie:sid*d", "!cookie:s*",
                "deleted:sid", "header:X-User=ada", "header:X-User=Second", "!header:X-User", "body:ada", #"body:"Ada Hello""#,
                "field:Q", "field:password", "!field:q", "location:*", "location:/", "json:a", "200 body:Ada field:password",
            ])
        + table(
            .redirect("/home?tab=1#x", status: 303, cookie),
            holding: [
                "303", "location:/home", "location:/ho*", "location:*home", "location:/home?tab=1", "location:/home?*",
                "location:http://127.0.0.1:*/home?tab=1", "location:http*tab=1", "!location:/", "!location:/home?tab=2",
            ],
            failing: [
                "location:/home?", "location:/home/", "location:home", "location:/home?tab", "location:https://*",
                "location:http://127.0.0.1/*", "!location:/home",
            ])
        + table(
            .json(200, #"{"ok":true,"no":false,"nil":null,"n":42,"s":"a b","e":"","deep":{"list":[{"id":"x"},7]}}"#, cookie),
            holding: [
                "json:ok", "json:ok=true", "json:no=false", "!json:no", "!json:nil", "!json:missing", "json:n=42", "json:n",
                #"json:"s=a b""#, #"json:s="a b""#, "json:e", "json:e=", "json:deep", "json:deep.list.0.id=x",
                "json:deep.list.1=7", "!json:deep.list.2", "!json:deep.list.-1", "!json:deep.list.99999999999999999999",
            ],
            failing: [
                "json:no", "json:nil", "json:nil=null", "json:n=4", "json:n=042", "json:deep=", "json:s=A", "!json:ok",
                "json:deep.list.id", "json:ok.x", "field:ok",
            ])
        + table(
            .json(200, "[1, [true]]", cookie), holding: ["json:0=1", "json:1.0=true", "json:1.0"],
            failing: ["json:1.1", "json:a"]
        )
        + table(
            .init(headers: [cookie, "Content-Type: text/plain"], body: #"{"a":1}<form><input name=q></form> say "hi" \ back"#),
            holding: [#"body:"say \"hi\"""#, #"body:"\\ back""#, #"body:\"#, "!json:a", "!field:q"],
            failing: ["json:a", "field:q", #"body:say"hi""#])

    /// The login has succeeded if and only if the sign of success holds.
    @Test(arguments: cases)
    func `A sign holds in the responses that it describes`(test: Case) async throws {
        let server = try ScriptedServer { _ in test.response }
        let session = try CookieLogins.session(at: server, [("success", test.sign)])
        if test.holds {
            try await session.login()
        } else {
            let failure = try await CookieLogins.failure(of: session)
            #expect(failure.status == .denied)
            #expect(failure.message.contains("no sign of success (status \(test.response.status))"), "\(failure.message)")
        }
        let other = try CookieLogins.session(at: server, [("failure", test.sign), ("success", "2xx"), ("success", "3xx")])
        if test.holds {
            #expect(try await CookieLogins.failure(of: other).message.contains("the server refused (status"))
        } else {
            try await other.login()
        }
    }

    @Test func `Of several signs, any suffices`() async throws {
        let server = try ScriptedServer { _ in .page("Hello", Self.cookie) }
        try await CookieLogins.session(at: server, [("success", "302"), ("success", "body:Hello")]).login()
        _ = try await CookieLogins.failure(
            of: CookieLogins.session(at: server, [("failure", "302"), ("failure", "body:Hello"), ("success", "200")]))
    }

    /// A cookie that the previous page already set to the same value isn't a sign.
    @Test(arguments: [("1", false), ("2", true)])
    func `A cookie is a sign when it has a new value`(value: String, isNew: Bool) async throws {
        let server = try ScriptedServer { request in
            .page("<form method=post><input name=password>", "Set-Cookie: sid=\(request.method == "GET" ? "1" : value); Path=/")
        }
        let session = try CookieLogins.session(at: server, [("page", "/login"), ("success", "cookie:sid")])
        if isNew {
            try await session.login()
        } else {
            #expect(try await CookieLogins.failure(of: session).status == .denied)
        }
    }

    @Test(arguments: [
        "success", "failure", "expired", "probe-success", "csrf-stale", "mfa-when", "mfa-expired", "logout-success",
    ])
    func `A malformed sign is refused with the setting's name`(name: String) throws {
        for (sign, words) in Self.malformed {
            let settings = [
                ("login", "http://h/login"), ("probe", "http://h/"), ("logout", "http://h/out"), ("csrf", "cookie"),
                ("mfa", "http://h/mfa"), (name, sign),
            ]
            let error = #expect(throws: PluginError.self, "\(name)=\(sign)") { try CookieLogins.instance(settings) }
            guard let error, case .failed("cookie", "create", 1, name, let message, nil) = error.reason else {
                Issue.record("\(name)=\(sign): \(String(describing: error))")
                continue
            }
            #expect(message.contains(words), "\(sign): \(message)")
        }
    }

    private static let malformed = [
        ("", "must not be empty"), ("   ", "must not be empty"), (#""""#, "must not be empty"),
        (#"body:"a"#, "a quote that isn't closed"), (#"body:"a\"#, "a quote that isn't closed"),
        ("!", "which is not a condition"), ("!!302", "which is not a condition"), ("status", "which is not a condition"),
        ("status:", "which is not a condition"), ("body:", "which is not a condition"), (#"body:"""#, "which is not a condition"),
        ("status:600", "a status is a number from 100 to 599, or 4xx"), ("status:20", "a status is"),
        ("status:4xxx", "a status is"),
        ("status:-10", "a status is"), ("42", "which is not a condition"), ("999", "which is not a condition"),
        ("shape:round", "an unknown condition, \"shape\""), ("Status:200", "an unknown condition, \"Status\""),
        ("json:=1", "an empty name"), ("json:a..b", "an empty name"), ("json:.", "an empty name"),
        ("200 nonsense", "which is not a condition"),
    ]

    @Test func `A member of JSON needs no kind in the signs of a second factor`() throws {
        _ = try CookieLogins.instance([("login", "http://h/login"), ("mfa", "http://h/mfa"), ("mfa-when", "error.code=otp")])
        let error = try #require(throws: PluginError.self) {
            try CookieLogins.instance([("login", "http://h/login"), ("success", "error.code=otp")])
        }
        #expect("\(error)".contains("success"))
    }
}
