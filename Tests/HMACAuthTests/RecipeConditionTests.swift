import NevodHost
import Testing

/// The lines between `when` and `end`.
struct RecipeConditionTests {
    @Test func `Each condition of a request`() throws {
        let get = Sent.get("https://h.example/api/a")
        let form = "application/x-www-form-urlencoded"
        let table: [(condition: String, sent: Sent, isTrue: Bool)] = [
            ("method POST", Sent(), true), ("method GET", Sent(), false), ("method GET POST", Sent(), true),
            ("method POSTX POS", Sent(), false), ("body", Sent(), true), ("body", get, false),
            ("query", Sent(), true), ("query", get, false), ("query", .get("https://h.example/?"), false),
            ("query", .get("https://h.example/?&"), true), ("form", .body("a=1", form), true),
            ("form", .body("a=1", "\(form.uppercased());charset=utf-8"), true), ("form", .body("a=1", "\(form)x"), false),
            ("form", Sent(), false), ("json", .body("{}", "application/json"), true),
            ("json", .body("{}", "Application/JSON ; charset=utf-8"), true),
            ("json", .body("{}", "application/json-patch"), false),
            ("json", .body("{}", ""), false), ("header X-A", Sent(headers: [("x-a", "")]), true), ("header X-A", Sent(), false),
            ("header X-A", Sent(headers: [("x-ab", "1")]), false), ("header Host", get, true), ("path /api/", get, true),
            ("path /api/a", get, true), ("path /api/ab", get, false), ("path /API", get, false), ("path /a%2F", Sent(), true),
            ("body and query", Sent(), true), ("body and query", get, false),
            ("method GET and not body and path /api", get, true),
            ("method GET and body and path /api", get, false), ("body and method GET POST and query", Sent(), true),
        ]
        for (condition, sent, isTrue) in table {
            // Only a single clause can be negated.
            for isNegated in condition.contains(" and ") ? [false] : [false, true] {
                let recipe = """
                    when \(isNegated ? "not " : "")\(condition)
                    let value = yes
                    otherwise
                    let value = no
                    end
                    header X-Value = {value}
                    header X-Sign = {target|hmac:sha256:secret|hex}
                    """
                let value = try sign(sent.request(), recipe: recipe).headers["X-Value"]
                #expect(value == (isTrue != isNegated ? "yes" : "no"), "\(recipe)")
            }
        }
    }

    @Test func `Each condition of a setting`() throws {
        let names = ["key": "api-key", "passphrase": "passphrase", "token": "token", "memo": "memo"]
        for (name, setting) in names {
            for given in [nil, "", "x"] {
                let recipe = """
                    when \(name)
                    let value = {\(name)}
                    otherwise
                    let value = none
                    end
                    when not \(name) and not body
                    header X-None = 1
                    end
                    when \(name) and method GET
                    header X-Given = {\(name)}
                    otherwise
                    header X-Other = 1
                    end
                    header X-Value = {value}
                    header X-Sign = {target|hmac:sha256:secret|hex}
                    """
                let settings = given.map { [setting: $0] } ?? [:]
                let signed = try sign(HTTPRequest(.get, "https://h.example/"), recipe: recipe, settings)
                #expect(signed.headers["X-Value"] == (given == "x" ? "x" : "none"))
                #expect(signed.headers["X-None"] == (given == "x" ? nil : "1"))
                #expect(signed.headers["X-Given"] == (given == "x" ? "x" : nil))
                #expect(signed.headers["X-Other"] == (given == "x" ? nil : "1"))
            }
        }
    }

    @Test func `Branches have outputs of one name, and values of one name`() throws {
        let recipe = """
            when body
            let message = {target}{body}
            header X-Kind = body
            query kind = body
            otherwise
            let message = {target}
            header X-Kind = none
            end
            when not body
            header X-Second = 1
            end
            when body
            header X-Length = {body|length}
            end
            header X-Sign = {message|hmac:sha256:secret|hex}
            """
        let expected = try Python.evaluate(["mac('sha256', b'/aBODY').hex()", "mac('sha256', b'/a').hex()"])
        let post = try sign(HTTPRequest(.post, "https://h.example/a", body: .bytes(Array("BODY".utf8))), recipe: recipe)
        #expect(post.headers["X-Sign"] == expected[0] && post.headers["X-Kind"] == "body" && post.target == "/a?kind=body")
        #expect(post.headers["X-Length"] == "4" && !post.headers.contains("X-Second"))
        let get = try sign(HTTPRequest(.get, "https://h.example/a"), recipe: recipe)
        #expect(get.headers["X-Sign"] == expected[1] && get.headers["X-Kind"] == "none" && get.target == "/a")
        #expect(!get.headers.contains("X-Length") && get.headers["X-Second"] == "1")
    }

    /// Conditions with the same text count once. Six are allowed.
    @Test func `Six conditions hold in each combination`() throws {
        let conditions = ["method GET", "query", "header X-A", "header X-B", "path /a", "header X-C"]
        var recipe = ""
        for (index, condition) in (conditions + conditions).enumerated() {
            recipe += "when \(condition)\nheader X-\(index) = yes\notherwise\nheader X-\(index) = no\nend\n"
        }
        recipe += "header X-Sign = {target|hmac:sha256:secret|hex}"
        for combination in 0..<64 {
            let bits = (0..<6).map { combination >> $0 & 1 == 1 }
            var request = try HTTPRequest(bits[0] ? .get : .put, "https://h.example/\(bits[4] ? "a" : "b")\(bits[1] ? "?q" : "")")
            for (bit, name) in [(2, "X-A"), (3, "X-B"), (5, "X-C")] where bits[bit] { try request.setHeader(name, "") }
            let signed = try sign(request, recipe: recipe)
            for index in 0..<12 { #expect(signed.headers["X-\(index)"] == (bits[index % 6] ? "yes" : "no")) }
        }
    }
}
