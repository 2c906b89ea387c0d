import NevodHost
import Testing

/// Recipes that would sign wrongly without a word are refused when the instance is made.
struct RecipeCheckTests {
    struct Case: CustomTestStringConvertible {
        let recipe: String
        let fragments: [String]
        var testDescription: String { recipe }

        init(_ recipe: String, _ fragments: String...) { (self.recipe, self.fragments) = (recipe, fragments) }
    }

    private func refusal(_ recipe: String, _ settings: [String: String] = [:]) throws -> String {
        let settings = settings.merging(["recipe": recipe, "memo": "m3mo-s3cret", "api-key": "demo"]) { $1 }
        let error = try #require(throws: PluginError.self) { try makeToken(settings, secret: "s3cret-Kq7") }
        #expect(!"\(error)".contains("s3cret"))
        return "\(error)"
    }

    private func expectRefusal(_ test: Case) throws {
        let error = try refusal(test.recipe)
        for fragment in test.fragments { #expect(error.contains(fragment), "\(error)") }
    }

    @Test(arguments: [
        Case("header X = {method}", "line 1, column 8: no signature is sent"),
        Case("header X = {secret}", "no signature is sent"),
        Case("let sign = {target|hmac:sha256:secret}", "no signature is sent"),
        Case("header X = {target|hmac:sha256:key|hex}", "no signature"),
        Case("let k = {method}\nheader X = {target|hmac:sha256:k|hex}", "no signature"),
        Case("header X = {target|sha256|hex}", "no signature"),
        Case("when body\nheader X = {target|hmac:sha256:secret|hex}\nend", "no signature", "for one of the conditions"),
        Case("header X = {secret|base64}", "no signature is sent"), Case("header X = {memo}{path}", "no signature is sent"),
    ])
    func `A recipe that sends no signature`(_ test: Case) throws { try expectRefusal(test) }

    private static let unbound = "the signature covers nothing of the request"

    @Test(arguments: [
        "{nonce|hmac:sha256:secret|hex}", "{key|hmac:sha256:secret|hex}", "{memo|hmac:sha256:secret|hex}", "{secret|sha256|hex}",
        "{scheme|hmac:sha256:secret|hex}", "{text|hmac:sha256:secret|hex}", "{time|seconds|hmac:sha256:secret|hex}",
        "{target}{secret|sha256|hex}",
        "{twice|hmac:sha256:secret|hex}", "{text|hmac:sha256:derived|hex}",
    ])
    func `A signature that depends on nothing of the request`(template: String) throws {
        let before = "let text = x\nlet twice = {text}{text}\nlet derived = {text|hmac:sha256:secret}"
        let error = try refusal("\(before)\nheader X = \(template)")
        #expect(
            error.contains("line 4, column 8: \(Self.unbound)") && error.contains("write the line: accept unbound-signature"),
            "\(error)")
        _ = try makeToken(["recipe": "\(before)\naccept unbound-signature\nheader X = \(template)", "memo": "m", "api-key": "k"])
    }

    @Test func `A signature that leaves the request out for one of the conditions`() throws {
        let recipe =
            "let text = x\nwhen body\nlet m = {body}\notherwise\nlet m = {text}\nend\nheader X = {m|hmac:sha256:secret|hex}"
        // Whether there is a body is a fact of the request, too.
        _ = try makeToken(["recipe": recipe])
        let inside =
            "when body\nheader X = {body|hmac:sha256:secret|hex}\notherwise\nheader X = {key|hmac:sha256:secret|hex}\nend"
        let error = try refusal(inside)
        #expect(error.contains("line 4, column 8: \(Self.unbound)") && error.contains("for one of the conditions"), "\(error)")
    }

    @Test(arguments: [
        "{method}", "{path}", "{query}", "{host}", "{hostname}", "{port}", "{target}", "{url}", "{segment:1}", "{query:a?}",
        "{form:a?}",
        "{json:a?}", "{body}", "{body|sha256}", "{body|length}", "{header:X-A}", "{headers:date}",
    ])
    func `Each part of the request binds a signature`(value: String) throws {
        for template in [
            "let m = \(value)\nheader X = {m|hmac:sha256:secret|hex}",
            "let m = {nonce}\(value)\nheader X = {m|hmac:sha1:memo|hex}",
            "let m = \(value){secret}\nheader X = {m|md5|hex}",
            "let m = \(value)\nlet k = {m|hmac:sha256:secret}\nheader X = {nonce|hmac:sha256:k|hex}",
            "let k = {secret|sha256|hex}\nlet m = {k}\(value)\nheader X = {m|md5|hex}",
        ] { #expect(throws: Never.self, "\(template)") { try makeToken(["recipe": template, "memo": "m"]) } }
    }

    @Test(arguments: [
        Case(
            "header T = {time|seconds}\nheader S = {target|hmac:sha256:secret|hex}",
            "line 1, column 8: a time is sent and not signed"),
        Case(
            "let t = {time|rfc3339}\nlet m = {t}\nheader S = {target|hmac:sha256:secret|hex}\nquery t = x{m}",
            "line 4, column 7: a time"),
        Case("header T = {time|seconds|md5|hex}\nheader S = {target|hmac:sha256:secret|hex}", "a time is sent and not signed"),
        Case(
            "let t = {time|seconds}\nlet m = {target}{t}\nheader T = {t}\nwhen body\nheader S = {m|hmac:sha256:secret|hex}\notherwise\n"
                + "header S = {target|hmac:sha256:secret|hex}\nend", "line 3, column 8: a time is sent and not signed",
            "for one of the conditions"),
    ])
    func `A time that is sent and not signed`(_ test: Case) throws {
        try expectRefusal(test)
        #expect(try refusal(test.recipe).contains("write the line: accept unsigned-time"))
        _ = try makeToken(["recipe": "accept unsigned-time\n\(test.recipe)"])
    }

    private static let sign = "header S = {target|hmac:sha256:secret|hex}"

    @Test(arguments: [
        Case("header X = 1\nheader x = 2\n\(sign)", "line 2, column 8: x is sent twice"),
        Case("query a = 1\nquery a = 2\n\(sign)", "a is sent twice"),
        Case("cookie a = 1\ncookie a = 2\n\(sign)", "a is sent twice"),
        Case("header s = 1\n\(sign)", "line 2, column 8: s is sent twice"),
        Case("header X = 1\nwhen body\nheader X = 2\nend\n\(sign)", "line 3, column 8: x is sent twice"),
        Case("when body\nheader X = 1\nend\nwhen query\nheader X = 2\nend\n\(sign)", "line 5, column 8: x is sent twice"),
        Case("when memo\nheader X = 1\nend\nheader X = 2\n\(sign)", "x is sent twice"),
    ])
    func `Two outputs of one name`(_ test: Case) throws { try expectRefusal(test) }

    @Test func `Names of query items and cookies differ by their letters' case`() throws {
        _ = try makeToken(["recipe": "query a = 1\nquery A = 2\ncookie a = 1\ncookie A = 2\n\(Self.sign)"])
    }

    @Test(arguments: [
        Case(
            "header X-A = 1\nlet m = {header:x-a}\n\(sign)",
            "line 2, column 9: the caller's header x-a is used, and the recipe itself writes x-a"),
        Case("let m = {header:X-A?}\nwhen body\nheader x-a = 1\nend\n\(sign)", "the caller's header x-a is used"),
        Case("let m = {headers:date;x-a?}\nheader X-A = 1\n\(sign)", "the caller's header x-a is used"),
    ])
    func `The caller's header that the recipe writes`(_ test: Case) throws { try expectRefusal(test) }

    @Test(arguments: [
        Case(
            "when body\nlet a = 1\nend\nheader X = {a}\n\(sign)", "line 4, column 8: a is defined for one of the conditions alone"
        ),
        Case("when body\nlet a = 1\nend\nlet b = x{a}\n\(sign)", "line 4", "a is defined for one of the conditions alone"),
        Case(
            "when body\nlet a = 1\nend\nheader X = {method|hmac:sha256:a|hex}\n\(sign)",
            "a is defined for one of the conditions alone"),
        Case(
            "when body\nlet a = 1\nend\nwhen query\nheader X = {a}\nend\n\(sign)", "a is defined for one of the conditions alone"),
        Case("when body\nlet a = 1\notherwise\nheader X = {a}\nend\n\(sign)", "line 4, column 13: the unknown placeholder {a}"),
    ])
    func `A value that one of the conditions lacks`(_ test: Case) throws { try expectRefusal(test) }

    @Test func `A value is there in the branches of its condition`() throws {
        _ = try makeToken(["recipe": "when body\nlet a = 1\nend\nwhen body\nheader X = {a}\nend\n\(Self.sign)"])
    }

    // MARK: Secrets

    @Test(arguments: [
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64", "begins with whsec_, which is not part of the base64"),
        ("sk_live_c2VjcmV0", "base64", "begins with sk_live_"), ("c2VjcmV1==", "base64", "is not valid base64"),
        // Bits at the end that encode nothing, and both alphabets.
        ("AB==", "base64", "is not valid base64"), ("AAB=", "base64", "is not valid base64"),
        ("AAB", "base64", "is not valid base64"),
        ("+_8=", "base64", "is not valid base64"), ("/-8", "base64", "is not valid base64"),
        ("whsec_00", "hex", "begins with whsec_"),
        (" AP8Q", "base64", "is not valid base64"), ("AP8Q\n", "base64", "is not valid base64"),
    ])
    func `A secret that would be another one`(secret: String, encoding: String, fragment: String) throws {
        let error = try #require(throws: PluginError.self) {
            try makeToken(["recipe": Self.sign, "secret-encoding": encoding], secret: secret)
        }
        #expect("\(error)".contains("secret \(fragment)"), "\(error)")
        #expect(!"\(error)".contains(secret))
        // As a text, any is one.
        _ = try makeToken(["recipe": Self.sign], secret: secret)
    }
}
