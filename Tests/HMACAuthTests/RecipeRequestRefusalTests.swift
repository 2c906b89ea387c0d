import NevodHost
import Testing

/// Requests that a recipe can't sign, or would sign ambiguously, are rejected and stay unchanged.
struct RecipeRequestRefusalTests {
    struct Case: CustomTestStringConvertible {
        let recipe: String
        let sent: Sent
        let fragment: String
        var testDescription: String { "\(recipe) \(sent.url)" }

        init(_ recipe: String, _ sent: Sent, _ fragment: String) {
            (self.recipe, self.sent, self.fragment) = (recipe, sent, fragment)
        }
    }

    private func refusal(_ recipe: String, _ sent: Sent) throws -> String {
        let settings = ["recipe": "\(recipe)\nheader X-Sign = {target|hmac:sha256:secret|hex}", "memo": "m3mo-s3cret"]
        let token = try makeToken(settings, secret: "s3cret-Kq7")
        var request = try sent.request()
        let error = try #require(throws: PluginError.self) { try token.authorize(&request) }
        #expect(!"\(error)".contains("s3cret"))
        #expect(!request.headers.contains("X-Sign"))
        return "\(error)"
    }

    private static let bare = Sent.get("https://h.example/a/b")

    @Test(arguments: [
        Case("header X = {header:X-A}", bare, "the request has no header X-A, which is signed; add it, or write {header:X-A?}"),
        Case(
            "header X = {headers:date;x-a|hex}", Sent(headers: [("Date", "now")]),
            "the request has no header x-a, which is signed; add it, or write x-a?"),
        Case("header X = {query:a}", bare, "the request has no query a, which is signed; add it, or write {query:a?}"),
        Case("header X = {form:a}", .body("b=1"), "the request has no form a, which is signed"),
        Case("header X = {json:a}", .body(#"{"b":1}"#), "the request has no json a, which is signed; add it, or write {json:a?}"),
        Case("header X = {segment:3}", bare, "the request's path has 2 segments, but segment 3 is signed"),
        Case("header X = {segment:-3}", bare, "the request's path has 2 segments, but segment -3 is signed"),
    ])
    func `A part that is absent`(_ test: Case) throws {
        let error = try refusal(test.recipe, test.sent)
        #expect(error.contains(test.fragment), "\(error)")
    }

    @Test(arguments: [
        Case("header X = {query:a}", .get("https://h.example/?a=1&a=2"), "the request's query has a more than once"),
        Case("header X = {query:a?}", .get("https://h.example/?a=1&%61"), "the request's query has a more than once"),
        Case("header X = {form:a}", .body("a=1&b=2&a=1"), "the request's form has a more than once"),
        Case("header X = {json:a}", .body(#"{"a":1,"a":1}"#), "the request's json has a more than once"),
        Case("header X = {json:a?}", .body(#"{"a":1,"\u0061":2}"#), "the request's json has a more than once"),
    ])
    func `A part that is there twice`(_ test: Case) throws {
        let error = try refusal(test.recipe, test.sent)
        #expect(error.contains(test.fragment) && error.contains("only one of them would be signed"), "\(error)")
    }

    @Test(arguments: [
        "", " ", "[]", "1", "\"a\"", "null", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}", "{\"a\":1}x", "{\"a\":1}{}",
        "{a:1}", "{\"a\" 1}",
        "{\"a\":01}", "{\"a\":tru}", "{\"a\":\"\\x\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\n\"}", "{,\"a\":1}",
        "{\"b\":[1,\"a\":2}", "{\"a\":'1'}", "{\"a\":{\"x\":1]}", "{\"a\":[1}}", "{\"b\":[{\"x\":1]],\"a\":1}",
        "{\"a\":1 \"b\":2}", "{\"b\":[", "\u{FEFF}{\"a\":1}", "{1:2}",
        "{\"a\":" + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "}",
        String(repeating: "{\"a\":", count: 100_000),
    ])
    func `A body that is no JSON object`(text: String) throws {
        let error = try refusal("header X = {json:a}", .body(text))
        #expect(error.contains("the request's body is not a JSON object, but its a is signed: "), "\(error)")
    }

    @Test func `A text that is not what a filter decodes`() throws {
        for (filter, texts) in [
            ("hex", ["a", "zz", "0x", "00 "]), ("base64", ["a", "AB==", "+_8=", "AP8Q\n", "A===", "AP=8", "*"]),
        ] {
            for text in texts {
                let error = try refusal(
                    "header X = {query:a|from-\(filter)|hex}",
                    .get("https://h.example/?a=\(text.replacing("\n", with: "%0A").replacing("+", with: "%2B"))"))
                #expect(error.contains("a value is not the \(filter) that the recipe decodes"), "\(error)")
            }
        }
        let error = try refusal("header X = {body|json-items}", .body("[]"))
        #expect(error.contains("a value is not the JSON object that the recipe reads: "), "\(error)")
    }

    // MARK: Lines

    private static let forged =
        "the request holds an encoded control character, which would look like a line of the signed message"

    /// A line end, in each way in which it may come from a request.
    @Test(arguments: [
        ("{path|decode}", Sent.get("https://h.example/%0d")),
        ("{path|decode|lower}", .get("https://h.example/%0A")), ("{path|decode:form}", .get("https://h.example/%00")),
        ("{query:a}", .get("https://h.example/?a=%7F")), ("{query:a?}", .get("https://h.example/?a=%0A")),
        ("{form:a}", .body("a=%0A")),
        ("{json:a}", .body(#"{"a":"\n"}"#)), ("{json:a|upper}", .body(#"{"a":"\u000d"}"#)), ("{body|from-hex}", .body("0a")),
        ("{body|from-base64|prefix:x}", .body("Cg==")), ("{query|join-decoded:=:&}", .get("https://h.example/?a=%0A")),
        ("{query|values-decoded:,}", .get("https://h.example/?a=%0A")), ("{inner}", .get("https://h.example/%0A")),
        ("{inner|suffix:x}", .get("https://h.example/%0A")), ("{outer}", .get("https://h.example/%0A")),
    ])
    func `A decoded line break isn't one of the message`(template: String, sent: Sent) throws {
        let before =
            switch template {
            case "{outer}": "let inner = {path|decode}\nlet outer = x{inner}"
            case _ where template.contains("inner"): "let inner = {path|decode}"
            default: "# no other names"
            }
        for recipe in [
            #"\#(before)\#nlet m = {method}\n\#(template)"#, #"\#(before)\#nlet m = \#(template)\r{method}"#,
            #"\#(before)\#nlet i = \#(template)\#nlet m = {i}\#nlet n = {m}\n"#,
            "\(before)\nlet m = {headers:host}\(template)", "\(before)\nlet t = \(template)\nlet m = {t}{headers:host}",
            #"\#(before)\#nlet b = \n\#nlet m = {method}{b}\#(template)"#,
        ] {
            let used = recipe.contains("let n") ? "n" : "m"
            let error = try refusal("\(recipe)\nheader X = {\(used)|hmac:sha256:memo|hex}", sent)
            #expect(error.contains(Self.forged), "\(recipe): \(error)")
        }
    }

    @Test func `Where there are no lines, or an encoding follows, a control byte is one of many`() throws {
        try Evaluation.check([
            Evaluation("{path|decode}", "b'/a\\nb'", .get("https://h.example/a%0Ab")),
            Evaluation("{method} {path|decode}", "b'GET /\\n'", .get("https://h.example/%0A")),
            Evaluation(#"{method}\n{path|decode|encode}"#, "b'GET\\n%2F%0A'", .get("https://h.example/%0A")),
            Evaluation(#"{method}\n{path|decode|hex}"#, "b'GET\\n2f0a'", .get("https://h.example/%0A")),
            Evaluation(
                #"{method}\n{path|decode|sha256}"#, "b'GET\\n' + digest('sha256', b'/\\n')", .get("https://h.example/%0A")),
            Evaluation(#"{method}\n{query:a|json}"#, "b'GET\\n\\\\n'", .get("https://h.example/?a=%0A")),
            Evaluation(#"{method}\n{path}"#, "b'GET\\n/%0A'", .get("https://h.example/%0A")),
            Evaluation(#"{method}\n{body}"#, "b'POST\\na\\nb'", .body("a\nb")),
            Evaluation(#"{method}\n{path|decode}"#, "'GET\\n/ü'.encode()", .get("https://h.example/%C3%BC")),
            Evaluation(#"{query:a|encode|suffix:\n}"#, #"b'%0A\n'"#, .get("https://h.example/?a=%0A")),
            Evaluation("{headers:host}{path|decode|hex}", #"b'host:h.example\n2f0a'"#, .get("https://h.example/%0A")),
            Evaluation(#"{query|join-decoded:\::\n}"#, "b'a:1\\nb:2 3'", .get("https://h.example/?a=1&b=2+3")),
        ])
        for template in [
            #"{path|decode|suffix:\n}"#, #"{path|prefix:\n|decode}"#, #"{path|replace:b:\n|decode}"#, "{path|decode|sort-lines}",
        ] {
            let error = try refusal("let m = \(template)\nheader X = {m|sha256|hex}", .get("https://h.example/a%0Ab"))
            #expect(error.contains(Self.forged), "\(error)")
        }
        for filter in [#"join-decoded:\::\n"#, #"values-decoded:\n"#, #"join-decoded:\r:;"#] {
            let error = try refusal("let m = {query|\(filter)}\nheader X = {m|sha256|hex}", .get("https://h.example/?a=1%0Ab:2"))
            #expect(error.contains(Self.forged), "\(error)")
        }
    }

    /// A chain that ends in a hash or an encoding still had lines before.
    @Test(arguments: [
        Case(#"header X = {path|decode|prefix:GET\n|hmac:sha256:secret|hex}"#, .get("https://h.example/a%0Ab"), ""),
        Case(
            #"let p = {method}{path|decode}\#nheader X = {p|suffix:\nx|hmac:sha256:secret|hex}"#, .get("https://h.example/a%0Ab"),
            ""),
        Case(
            #"let m = {query|join-decoded:=:&}\#nheader X = {m|replace:&:\n|hmac:sha256:secret|hex}"#,
            .get("https://h.example/?a=1%0Ab=2"), ""),
        Case(
            #"let m = {time|format:%Y\n}{path|decode}\#nheader X = {m|hmac:sha256:secret|hex}"#, .get("https://h.example/a%0Ab"),
            ""),
        Case(#"header X = {path|decode|suffix:\n|encode}"#, .get("https://h.example/a%0Ab"), ""),
        Case(#"header X = {query:a|default:\r\n|base64}"#, .get("https://h.example/?a=%0A"), ""),
    ])
    func `A chain hides no forged line behind its end`(_ test: Case) throws {
        let error = try refusal(test.recipe, test.sent)
        #expect(error.contains(Self.forged), "\(error)")
    }

    @Test func `The decoded path of the short form holds no forged line`() throws {
        let request = try HTTPRequest(.get, "https://h.example/a%0Ab")
        let error = try #require(throws: PluginError.self) { try sign(request, ["message": #"{method}\n{path:decoded}"#]) }
        #expect("\(error)".contains(Self.forged), "\(error)")
        #expect(try sign(request, ["message": "{method} {path:decoded}"]).headers.contains("X-Signature"))
    }

    // MARK: A recipe's own refusals

    @Test(arguments: [
        Case("when body and not form\nrefuse Example signs the items of a form\nend", .body("{}", "application/json"), ""),
        Case("when form\notherwise\nrefuse Example signs the items of a form\nend", bare, ""),
        Case("header X-A = 1\nwhen not header X-B\nheader X-C = 1\nrefuse Example signs the items of a form\nend", bare, ""),
    ])
    func `A recipe refuses a request with its own words`(_ test: Case) throws {
        let error = try refusal(test.recipe, test.sent)
        #expect(error.contains("the recipe refuses the request: Example signs the items of a form"), "\(error)")
        let form = Sent(headers: [("Content-Type", "application/x-www-form-urlencoded"), ("X-B", "1")])
        #expect(try sign(form.request(), recipe: "\(test.recipe)\nheader S = {path|hmac:md5:secret|hex}").headers.contains("S"))
    }

    // MARK: Outputs

    @Test(arguments: ["sign=1", "a=1&sign=2", "si%67n=3", "sign", "sign="])
    func `The caller's own item of the recipe's name`(query: String) throws {
        let error = try refusal("query sign = {target|hmac:sha256:secret|hex}", .get("https://h.example/?\(query)"))
        #expect(error.contains("the request's query already has an item sign; leave it to the scheme"), "\(error)")
    }

    @Test func `An item of another name stays`() throws {
        let signed = try sign(
            HTTPRequest(.get, "https://h.example/?Sign=1&signs=2&sig"),
            recipe: "query sign = x\nheader S = {target|hmac:sha256:secret|hex}")
        #expect(signed.target == "/?Sign=1&signs=2&sig&sign=x")
    }

    @Test(arguments: ["header X", "query x", "cookie x"])
    func `A digest whose encoding was forgotten`(output: String) throws {
        let error = try refusal("\(output) = {target|sha256}", Self.bare)
        #expect(
            error.contains("\(output.suffix(1)) would hold bytes that aren't text; add a filter to the recipe, such as hex"),
            "\(error)")
    }

    @Test func `A header or a cookie with a line break`() throws {
        let sent = Sent.get("https://h.example/?a=1%0D%0AX-Evil:%201")
        #expect(try refusal("header X = {query:a}", sent).contains("control character"))
        #expect(try refusal("cookie x = {query:a}", sent).contains("not allowed in cookies"))
    }

    // MARK: Memory

    private static let bound = "the recipe makes more than "

    /// Each of these would produce terabytes.
    @Test(arguments: [
        "let a0 = {body}\n" + (1...100).map { "let a\($0) = {a\($0 - 1)}{a\($0 - 1)}" }.joined(separator: "\n")
            + "\nlet m = {a100}",
        "let m = {body" + String(repeating: "|hex", count: 16) + "}",
        "let a = {body|replace:x:" + String(repeating: "x", count: 1000) + "}\nlet b = {a|replace:x:"
            + String(repeating: "x", count: 1000)
            + "}\nlet m = {b|replace:x:" + String(repeating: "x", count: 1000) + "}",
        "let m = {body|replace:x:%|" + Array(repeating: "encode", count: 4).joined(separator: "|") + "|replace:2:"
            + String(repeating: "2", count: 9000) + "}",
        "let i = {body|replace:x:&}\nlet m = {i|join:=:" + String(repeating: "x", count: 9000) + "}",
        "let i = {body|replace:x:&}\nlet m = {i|values:" + String(repeating: "x", count: 9000) + "}",
        #"let i = {body|replace:x:x\n}\#nlet m = {i|line-names:"# + String(repeating: "x", count: 9000) + "}",
        "let m = {headers:" + Array(repeating: "x-long", count: 4000).joined(separator: ";") + "}",
        "let m = " + String(repeating: "{header:x-long|upper}", count: 200)
            + "\nlet n = {m}{m}{m}{m}\nlet o = {n}{n}{n}{n}\nlet p = {o}{o}{o}{o}",
    ])
    func `A recipe that multiplies its input stops`(recipe: String) throws {
        let sent = Sent(
            headers: [("X-Long", String(repeating: "x", count: 8000))],
            body: .bytes(Array(repeating: UInt8(ascii: "x"), count: 1000)))
        let error = try refusal("\(recipe)\nheader X = {\(recipe.contains("let p") ? "p" : "m")|sha256|hex}", sent)
        #expect(error.contains(Self.bound), "\(error)")
    }

    /// Input that a hash function reads piece by piece has the same limit.
    @Test func `A message that is never built has the same bound`() throws {
        let recipe =
            "let a = {path}" + String(repeating: "x", count: 16_000) + "\nlet b = " + String(repeating: "{a}", count: 50)
            + "\nlet c = " + String(repeating: "{b}", count: 500) + "\nheader X = {c|hmac:sha256:secret|hex}"
        #expect(try refusal(recipe, Self.bare).contains(Self.bound))
    }

    @Test func `A text that is looked for has at most 256 bytes`() throws {
        let longest = String(repeating: "x", count: 256)
        for filter in ["replace:%:y", "before:%", "after:%"] {
            let recipe = { (text: String) in
                "header X = {body|\(filter.replacing("%", with: text))|hex}\nheader S = {path|hmac:md5:secret|hex}"
            }
            _ = try makeToken(["recipe": recipe(longest)])
            let error = try #require(throws: PluginError.self) { try makeToken(["recipe": recipe("\(longest)x")]) }
            #expect("\(error)".contains("a text of more than 256 bytes to look for"), "\(error)")
        }
    }

    @Test func `What a recipe has itself needs no large request`() throws {
        let text = String(repeating: "x", count: 16_000)
        let expected = try Python.evaluate(["digest('md5', b'x' * 16_000 * 32).hex()"])
        let recipe =
            "let a = \(text)\nlet b = {a}{a}{a}{a}\nlet c = {b}{b}{b}{b}\nlet d = {c}{c}\nheader X = {d|md5|hex}\nheader S = {path|hmac:md5:secret|hex}"
        #expect(try sign(HTTPRequest(.get, "https://h.example/"), recipe: recipe).headers["X"] == expected[0])
    }

    @Test func `A large body is signed, and one that is copied a few times`() throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 4 << 20)
        let request = try HTTPRequest(.post, "https://h.example/", body: .bytes(body))
        let expected = try Python.evaluate(["mac('sha256', b'x' * (12 << 20)).hex()"])
        let signed = try sign(
            request, recipe: "let a = {body}\nlet b = {a}{a}\nlet m = {a}{b}\nheader X = {m|hmac:sha256:secret|hex}")
        #expect(signed.headers["X"] == expected[0])
    }
}
