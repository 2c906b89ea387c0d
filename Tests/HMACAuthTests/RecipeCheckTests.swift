import NevodHost
import Testing

/// Creating an instance rejects recipes that would silently sign wrongly.
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
        Case("header X = {target|hmac:sha256:key|hex}", "no signature"),
        Case("let k = {method}\nheader X = {target|hmac:sha256:k|hex}", "no signature"),
        Case("header X = {target|sha256|hex}", "no signature"),
        Case("when body\nheader X = {target|hmac:sha256:secret|hex}\nend", "no signature", "for one of the conditions"),
        Case("header X = {memo}{path}", "no signature is sent"), Case("when body\nend", "no signature is sent"),
        // Anybody who sees the token can also make its hash.
        Case("let m = {url}{memo}\nheader Authorization = {memo}\nheader Sign = {m|sha256|hex}", "no signature is sent"),
        Case("header Authorization = Bearer {memo}\nheader Sign = {url|hmac:sha256:memo|hex}", "no signature is sent"),
        Case("header Authorization = {memo|base64}\nheader Sign = {url|hmac:sha256:memo|hex}", "no signature is sent"),
        Case(
            "when body\nheader A = {memo}\nend\nheader Sign = {url|hmac:sha256:memo|hex}", "no signature is sent",
            "for one of the conditions"),
    ])
    func `A recipe that sends no signature`(_ test: Case) throws { try expectRefusal(test) }

    private static let unbound = "the signature covers nothing of the request"

    @Test(arguments: [
        ("", "{nonce|hmac:sha256:secret|hex}"), ("", "{key|hmac:sha256:secret|hex}"), ("", "{memo|hmac:sha256:secret|hex}"),
        ("", "{secret|sha256|hex}"), ("", "{secret|md5|hex|md5|base64}"), ("", "{scheme|hmac:sha256:secret|hex}"),
        ("let text = x", "{text|hmac:sha256:secret|hex}"), ("", "{time|seconds|hmac:sha256:secret|hex}"),
        // A value that never changes is a password, whatever precedes it.
        ("", "{target}{secret|sha256|hex}"), ("let text = x\nlet twice = {text}{text}", "{twice|hmac:sha256:secret|hex}"),
        ("let text = x\nlet derived = {text|hmac:sha256:secret}", "{text|hmac:sha256:derived|hex}"),
        ("let k = {memo|sha256}", "{key|hmac:sha1:k|hex}"),
    ])
    func `A signature that depends on nothing of the request`(before: String, template: String) throws {
        let lines = before.isEmpty ? 0 : before.split(separator: "\n").count
        let recipe = "\(before.isEmpty ? "" : "\(before)\n")header X = \(template)"
        let error = try refusal(recipe)
        #expect(
            error.contains("line \(lines + 1), column 8: \(Self.unbound)")
                && error.contains("write the line: accept unbound-signature"),
            "\(error)")
        _ = try makeToken(["recipe": "accept unbound-signature\n\(recipe)", "memo": "m", "api-key": "k"])
    }

    @Test func `A signature that leaves the request out for one of the conditions`() throws {
        let branches =
            "let text = x\nwhen body\nlet m = {body}\notherwise\nlet m = {text}\nend\nheader X = {m|hmac:sha256:secret|hex}"
        // The choice of the branch binds nothing: each request without a body has the same signature.
        for (recipe, line) in [
            (branches, 7),
            ("when method GET\nlet m = read\notherwise\nlet m = write\nend\nheader X = {m|hmac:sha256:secret|hex}", 6),
            ("when body\nheader X = {body|hmac:sha256:secret|hex}\notherwise\nheader X = {key|hmac:sha256:secret|hex}\nend", 4),
        ] {
            let error = try refusal(recipe)
            #expect(
                error.contains("line \(line), column 8: \(Self.unbound)") && error.contains("for one of the conditions"),
                "\(error)")
        }
    }

    /// Each signature is judged by what it covers itself: the one that covers the request must have a key that isn't sent.
    @Test func `Signatures are judged one by one`() throws {
        let weak = """
            let m = {url}{memo}
            header Authorization = {memo}
            header Sign = {m|sha256|hex}
            header N = {nonce}
            header Sign2 = {nonce|hmac:sha256:secret|hex}
            """
        #expect(try refusal(weak).contains(Self.unbound))
        // With a key that isn't sent, the URL is bound.
        _ = try makeToken(["recipe": weak.replacing("{url}{memo}", with: "{url}{memo}{secret}"), "memo": "m"])
        let unsigned = """
            header T = {time|seconds}
            header Authorization = {memo}
            header S = {target|hmac:sha256:secret|hex}
            let m = {time|seconds}
            header S2 = {m|hmac:sha256:memo|hex}
            """
        #expect(try refusal(unsigned).contains("line 1, column 8: a time is sent and not signed"))
        _ = try makeToken(["recipe": unsigned.replacing("= {memo}", with: "= none"), "memo": "m"])
    }

    /// A derived value may itself be sent, so a hash over it without a key doesn't count as a signature of the rest.
    @Test func `A plain hash over a derived value signs nothing more`() throws {
        for recipe in [
            "let s = {nonce|hmac:sha256:secret|hex}\nlet m = {s}{path}\nheader N = {s}\nheader X = {m|sha256|hex}",
            "let k = {nonce|hmac:sha256:secret|hex}\nlet m = {url}{k}\nheader X = {m|sha256|hex}\nheader N = {k}{nonce}",
        ] { #expect(try refusal(recipe).contains(Self.unbound), "\(recipe)") }
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

    @Test(arguments: [
        Case(
            "header S = {target|hmac:sha256:secret|hex}\nheader N = {nonce}", "line 2, column 8: a nonce is sent and not signed"),
        Case("query n = {nonce|uuid|md5|hex}\nheader S = {target|hmac:sha256:secret|hex}", "line 1, column 7: a nonce is sent"),
        Case(
            "let n = {nonce}\nlet m = {target}{n}\nheader N = {n}\nwhen body\nheader S = {m|hmac:sha256:secret|hex}\notherwise\n"
                + "header S = {target|hmac:sha256:secret|hex}\nend", "a nonce is sent and not signed",
            "for one of the conditions"),
    ])
    func `A nonce that is sent and not signed`(_ test: Case) throws {
        try expectRefusal(test)
        #expect(try refusal(test.recipe).contains("write the line: accept unsigned-nonce"))
        _ = try makeToken(["recipe": "accept unsigned-nonce\n\(test.recipe)"])
        // Accepting the one doesn't accept the other.
        #expect(try refusal("accept unsigned-time\n\(test.recipe)").contains("a nonce is sent and not signed"))
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
            "header X-A = 1\nheader X-B = {header:x-a}\n\(sign)",
            "line 2, column 14: the caller's header x-a is used, but the recipe itself writes x-a"),
        Case("header X-B = {header:X-A?}\nwhen body\nheader x-a = 1\nend\n\(sign)", "the caller's header x-a is used"),
        Case("header X-B = {headers:date;x-a?|hex}\nheader X-A = 1\n\(sign)", "the caller's header x-a is used"),
        Case("when header X-A\nheader X-B = 1\nend\nheader x-a = 1\n\(sign)", "the caller's header x-a is used"),
        Case("when form\nheader X-B = 1\nend\nheader Content-Type = a\n\(sign)", "the caller's header content-type is used"),
        Case("when not json\nheader X-B = 1\nend\nheader content-type = a\n\(sign)", "the caller's header content-type"),
        Case("header X-B = {header:Cookie}\ncookie a = 1\n\(sign)", "the caller's header cookie is used"),
    ])
    func `The caller's header that the recipe writes`(_ test: Case) throws { try expectRefusal(test) }

    @Test(arguments: [
        Case(
            "when body\nlet a = 1\nend\nheader X = {a}\n\(sign)", "line 4, column 8: a is defined for only one of the conditions"
        ),
        Case(
            "when body\nlet a = 1\nend\nlet b = x{a}\nheader X = {b}\n\(sign)", "line 4",
            "a is defined for only one of the conditions"),
        Case(
            "when body\nlet a = 1\nend\nheader X = {method|hmac:sha256:a|hex}\n\(sign)",
            "a is defined for only one of the conditions"),
        Case(
            "when body\nlet a = 1\nend\nwhen query\nheader X = {a}\nend\n\(sign)", "a is defined for only one of the conditions"),
        Case("when body\nlet a = 1\notherwise\nheader X = {a}\nend\n\(sign)", "line 4, column 13: an unknown placeholder {a}"),
    ])
    func `A value that one of the conditions lacks`(_ test: Case) throws { try expectRefusal(test) }

    @Test func `A value is there in the branches of its condition`() throws {
        _ = try makeToken(["recipe": "when body\nlet a = 1\nend\nwhen body\nheader X = {a}\nend\n\(Self.sign)"])
    }

    // MARK: Names that nothing uses

    @Test(arguments: [
        Case(
            "let sign = {target|hmac:sha256:secret}",
            "line 1, column 1: sign is never used; use it in a template, or drop the line"),
        Case("let a = 1\nlet m = {header:X-Absent}\nheader X = {a}\n\(sign)", "line 2, column 1: m is never used"),
        Case("when body\nlet a = 1\notherwise\nlet a = 2\nend\n\(sign)", "line 2, column 1: a is never used"),
    ])
    func `A name that nothing uses`(_ test: Case) throws { try expectRefusal(test) }

    @Test func `A name is used in a branch that the settings exclude, and as a key`() throws {
        _ = try makeToken(["recipe": "let a = 1\nwhen token\nheader X = {a}\nend\n\(Self.sign)"])
        _ = try makeToken(["recipe": "when token\nlet a = {token}\nend\n\(Self.sign)"])
        _ = try makeToken(["recipe": "let k = x{secret}\nheader X = {target|hmac:sha1:k|hex}"])
    }

    // MARK: A recipe's own refusals

    @Test func `A combination that is refused is not judged`() throws {
        let sign = "header S = {m|hmac:sha256:secret|hex}"
        // Without a body, there is neither a message nor a signature.
        _ = try makeToken(["recipe": "when body\nlet m = {body}\notherwise\nrefuse it signs bodies\nend\n\(sign)"])
        _ = try makeToken(["recipe": "when body\nlet m = {body}\nend\n\(sign)\nwhen body\notherwise\nrefuse it signs bodies\nend"]
        )
        let error = try refusal("when body\nlet m = {body}\n\(sign)\notherwise\nlet x = {key}\nheader X = {x}\nend")
        #expect(error.contains("no signature is sent, for one of the conditions"), "\(error)")
    }

    @Test func `A refusal that the settings decide is one of the recipe`() throws {
        let recipe = "when not memo\nrefuse give the memo\nend\n\(Self.sign)"
        let error = try #require(throws: PluginError.self) { try makeToken(["recipe": recipe]) }
        #expect("\(error)".contains("line 2, column 8: give the memo"), "\(error)")
        _ = try makeToken(["recipe": recipe, "memo": "m"])
    }

    // MARK: Secrets

    @Test(arguments: [
        "{secret}", "{secret|base64}", "x{secret|upper}", "{s}", "{s|hex|first:4}", "{memo}{s}{path}", "{secret|length}",
    ])
    func `The secret itself is never sent`(template: String) throws {
        let before = template.contains("{s") && !template.contains("{secret") ? "let s = {secret}\n" : ""
        for accept in ["", "accept unbound-signature\n"] {
            let error = try refusal("\(before)\(accept)header X = \(template)\n\(Self.sign)")
            #expect(error.contains("the secret itself would be sent, with which anybody could sign"), "\(error)")
        }
    }

    /// With an HMAC's key, in any form, anybody can make the HMAC of another request.
    @Test(arguments: [
        "let k = {method|hmac:sha256:secret}\nheader X-A = {k|hex}", "let k = {method|hmac:sha256:secret|hex}\nheader X-A = {k}",
        "let k = {method|hmac:sha256:secret|hex}\nheader X-A = v1={k}",
        "let k = {method|hmac:sha256:secret}\nlet a = {k|base64}\nquery a = {a}",
        "let d = {method|hmac:sha256:secret|hex}\nlet k = {d|from-hex}\nheader X-A = {d}",
        "let d = {method|hmac:sha256:secret|hex}\nlet k = {d}\ncookie a = {d}",
        "let d = {method|hmac:sha256:secret|hex}\nlet k = key{d}\nheader X-A = {d|upper}",
        "let k = {memo}\nheader X-A = {k}", "let k = x{memo|sha256}\nheader X-A = {k|hex}",
    ])
    func `The key of an HMAC is never sent, in any form`(recipe: String) throws {
        let error = try refusal("\(recipe)\nheader X-B = {url|hmac:sha256:k|hex}\n\(Self.sign)")
        #expect(error.contains("the key of an HMAC would be sent, with which anybody could sign"), "\(error)")
    }

    @Test func `What is made of a key by a hash is sent, and a password that the author accepts`() throws {
        _ = try makeToken([
            "recipe": "let k = {method|hmac:sha256:secret}\nheader X = {k|sha256|hex}\nheader Y = {url|hmac:sha256:k|hex}"
        ])
        // Two HMACs with the same key. One of them is another key.
        _ = try makeToken([
            "recipe": "let k = {method|hmac:sha256:secret}\nlet l = {path|hmac:sha1:k}\nheader Y = {url|hmac:sha256:l|hex}"
        ])
        _ = try makeToken(["recipe": "header P = {memo|hmac:sha256:secret|base64}\n\(Self.sign)", "memo": "m"])
    }

    @Test(arguments: [
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64", "begins with whsec_, which is not part of the base64"),
        ("sk_live_c2VjcmV0", "base64", "begins with sk_live_"), ("c2VjcmV1==", "base64", "is not valid base64"),
        // Trailing bits that encode nothing, and a mix of both alphabets.
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
        // As text, any secret is valid.
        _ = try makeToken(["recipe": Self.sign], secret: secret)
    }
}
