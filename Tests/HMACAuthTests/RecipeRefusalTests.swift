import NevodHost
import Testing

/// Creating an instance rejects unreadable recipes. The error has the line, the column and the way out.
struct RecipeRefusalTests {
    struct Case: CustomTestStringConvertible {
        let recipe: String
        let line: Int
        let column: Int
        let fragments: [String]
        var testDescription: String { recipe.count < 80 ? recipe : "\(recipe.prefix(80))…" }

        init(_ recipe: String, _ line: Int, _ column: Int, _ fragments: String...) {
            (self.recipe, self.line, self.column, self.fragments) = (recipe, line, column, fragments)
        }
    }

    private func expectRefusal(_ test: Case) throws {
        let error = try #require(throws: PluginError.self) {
            try makeToken(["recipe": test.recipe, "memo": "m3mo-s3cret"], secret: "s3cret-Kq7")
        }
        for fragment in ["recipe", "line \(test.line), column \(test.column): "] + test.fragments {
            #expect("\(error)".contains(fragment), "\(error)")
        }
        #expect(!"\(error)".contains("s3cret"))
    }

    @Test(arguments: [
        Case(
            "lets a = 1", 1, 1, "a line begins with let, header, query, cookie, when, otherwise, end, refuse, accept or #",
            "\"lets\""),
        Case("# a comment\n\n  headers X = 1", 3, 3, "\"headers\""), Case("\u{FEFF}let a = 1", 1, 1, "a line begins"),
        Case("let a", 1, 1, "write it as let NAME = TEMPLATE"), Case("let = 1", 1, 5, "write it as let NAME = TEMPLATE"),
        Case("let", 1, 1, "write it as let NAME = TEMPLATE"), Case("header X", 1, 1, "write it as header NAME = TEMPLATE"),
        Case("query x", 1, 1, "write it as query NAME = TEMPLATE"), Case("query =", 1, 7, "write it as query NAME = TEMPLATE"),
        Case("cookie x", 1, 1, "write it as cookie NAME = TEMPLATE"), Case("header X Y = 1", 1, 8, "a header's name"),
        Case("header X: = 1", 1, 8, "a header's name"), Case("  cookie a b = 1", 1, 10, "a cookie's name"),
        Case("let A = 1", 1, 5, "a name has a-z, 0-9 and -, and begins with a letter"),
        Case("let 1a = 1", 1, 5, "a name has a-z"),
        Case("let a_b = 1", 1, 5, "a name has a-z"), Case("let -a = 1", 1, 5, "a name has a-z"),
        Case("let ä = 1", 1, 5, "a name has a-z"),
        Case("let time = 1", 1, 5, "time is the name of a value; choose another one"),
        Case("let secret = 1", 1, 5, "secret is the name"),
        Case("let segment = 1", 1, 5, "segment is the name"), Case("let nonce = 1", 1, 5, "nonce is the name"),
        Case("let a = 1\nlet a = 2", 2, 5, "a is already defined in line 1"),
        Case("let a = 1\nwhen body\nlet a = 2\nend", 3, 5, "a is already defined in line 1"),
        Case("when body\nlet a = 2\nend\nlet a = 1", 4, 5, "a is already defined in line 2"),
        Case("when body\nlet a = 1\nend\nwhen query\nlet a = 1\nend", 5, 5, "a is already defined in line 2"),
        Case("when memo\nlet a = 1\nend\nlet a = 1", 4, 5, "a is already defined in line 2"),
        Case("accept all", 1, 8, "\"accept\" takes unbound-signature, unsigned-time or unsigned-nonce"),
        Case("accept", 1, 7, "\"accept\" takes"),
        Case("when body\naccept unsigned-time\nend", 2, 1, "\"accept\" holds for the whole recipe; write it outside of \"when\""),
        Case("when body\notherwise\naccept unbound-signature\nend", 3, 1, "write it outside of \"when\""),
        Case("refuse no bodies", 1, 8, "write refuse with a text that says why, after a \"when\""),
        Case("when body\nrefuse\nend", 2, 7, "write refuse with a text"),
        Case("let time-5 = 1", 1, 5, "time-5 is the name of a value"), Case("let time+60 = 1", 1, 5, "a name has a-z"),
        Case("query a b = 1", 1, 7, "a query item's name has no spaces and no control characters"),
        Case("query a\tb = 1", 1, 7, "a query item's name"), Case("query \u{7F} = 1", 1, 7, "a query item's name"),
    ])
    func `A statement that can't be read`(_ test: Case) throws { try expectRefusal(test) }

    @Test(arguments: [
        Case("when body\n when query\nend", 2, 2, "\"when\" in the \"when\" of line 1", "\"end\"", "\"and\""),
        Case("otherwise", 1, 1, "\"otherwise\" must be alone on its line, after a \"when\""),
        Case("end", 1, 1, "\"end\" must be alone on its line"),
        Case("when body\nend now", 2, 1, "\"end\" must be alone on its line"),
        Case("when body\notherwise x", 2, 1, "\"otherwise\" must be alone on its line"),
        Case("when body\notherwise\notherwise\nend", 3, 1, "a second \"otherwise\""),
        Case("when body\nend\nend", 3, 1, "\"end\""),
        Case("let a = 1\nwhen body\nlet b = 1", 2, 1, "this \"when\" has no \"end\""),
        Case(
            "when sunday\nend", 1, 6, "an unknown condition, \"sunday\"", "method NAME …, body, query",
            "memo, or \"not\" and one of them"),
        Case("when\nend", 1, 1, "an unknown condition, \"\""), Case("when not\nend", 1, 1, "an unknown condition, \"\""),
        Case("when method\nend", 1, 6, "an unknown condition, \"method\""), Case("when body x\nend", 1, 6, "\"body x\""),
        Case("when not not body\nend", 1, 10, "\"not body\""), Case("when header\nend", 1, 6, "\"header\""),
        Case("when secret\nend", 1, 6, "\"secret\""), Case("when body and\nend", 1, 11, "no condition after \"and\""),
        Case("when and\nend", 1, 6, "no condition after \"and\""),
        Case("when method get\nend", 1, 13, "a method is written in capital letters"),
        Case("when not method GET Post\nend", 1, 21, "a method is written in capital letters"),
        Case("when header {x}\nend", 1, 13, "a header's name has letters, digits and hyphens"),
        Case("when and body\nend", 1, 1, "an unknown condition, \"\""),
        Case("when body and and query\nend", 1, 1, "an unknown condition"),
        Case("when path /a b\nend", 1, 6, "\"path /a b\""), Case("when Body\nend", 1, 6, "\"Body\""),
        // An excluded branch is read like any other.
        Case("when token\nheader X = {none}\nend", 2, 13, "an unknown placeholder {none}"),
        Case("when token\nlet a = 1\nend\nheader X = {a}", 4, 13, "an unknown placeholder {a}"),
    ])
    func `A condition that can't be read`(_ test: Case) throws { try expectRefusal(test) }

    @Test(arguments: [
        Case("let a = x{method", 1, 10, "a { without its }; write {{"), Case("let a = x}", 1, 10, "a } without its {; write }}"),
        Case(#"let a = x\y"#, 1, 11, #"a \ before a character other than n, r, t, s"#), Case(#"let a = \"#, 1, 9, #"a \ before"#),
        Case(#"let a = {method|prefix:\x}"#, 1, 25, #"a \ before"#), Case("let a = {method|", 1, 9, "a { without its }"),
        Case("let a = {}", 1, 10, "{}"),
        Case("let a = {none}", 1, 10, "an unknown placeholder {none}; use one of {method}, {scheme}"),
        Case("let known = 1\nlet a = {none}", 2, 10, "{memo}, {known}"), Case("let a = {Method}", 1, 10, "{Method}"),
        Case("let a = {a}", 1, 10, "an unknown placeholder {a}"), Case("let a = {method:x}", 1, 10, "{method:x}"),
        Case("let a = {query:}", 1, 10, "{query:}"), Case("let a = {query:?}", 1, 10, "{query:?}"),
        Case("let a = {form:}", 1, 10, "{form:}"),
        Case("let a = {json:a:b}", 1, 10, #"json takes one name; write \: for a colon in it"#),
        Case("let a = {query:a:b?}", 1, 10, #"query takes one name; write \: for a colon"#),
        Case("let a = {form:a::}", 1, 10, #"form takes one name; write \: for a colon"#),
        Case("let a = {path:decoded}", 1, 10, "{path:decoded}"),
        Case("let a = {header:}", 1, 10, "{header:}"),
        Case("let a = {header:a b}", 1, 10, "{header:a b}"), Case("let a = {header:X?Y}", 1, 10, "{header:X?Y}"),
        Case("let a = {segment:0}", 1, 18, "a segment's number counts from 1, or from -1 at the end"),
        Case("let a = {segment:x}", 1, 18, "a segment's number"), Case("let a = {segment:-0}", 1, 18, "a segment's number"),
        Case("let a = {segment:1234567890}", 1, 18, "a segment's number"), Case("let a = {segment}", 1, 10, "{segment}"),
        Case("let a = {headers:a,b c}", 1, 18, "headers are named with ; between them"),
        Case("let a = {headers:}", 1, 18, "headers are named"),
        Case("let a = {headers:a;;b}", 1, 18, "headers are named"), Case("let a = {headers:a;?}", 1, 18, "headers are named"),
        Case("let a = {" + String(repeating: "x", count: 200) + "}", 1, 10, "{" + String(repeating: "x", count: 64) + "}"),
    ])
    func `A template that can't be read`(_ test: Case) throws { try expectRefusal(test) }

    @Test(arguments: [
        Case("let a = {time}", 1, 10, "a time without a format, such as {time|seconds}", "format:PATTERN"),
        Case("let a = {time|hours}", 1, 15, "an unknown time format, \"hours\"; use one of seconds, milliseconds"),
        Case("let a = {time|decimal:0}", 1, 15, "an unknown time format"),
        Case("let a = {time|decimal:10}", 1, 15, "an unknown time format"),
        Case("let a = {time|seconds:1}", 1, 15, "an unknown time format"),
        Case("let a = {time|hex}", 1, 15, "an unknown time format"),
        Case("let a = {time|format:%Y %Q}", 1, 22, "a time's pattern has %Y %y %m %d %e %H %M %S %L %f %a %b and %%"),
        Case("let a = {time|format:%Y%}", 1, 22, "a time's pattern ends with %; write %%"),
        Case("let a = {time|format}", 1, 15, "an unknown time format"),
        Case("let a = {time+x|seconds}", 1, 10, "{time+x}"), Case("let a = {time+|seconds}", 1, 10, "{time+}"),
        Case("let a = {time+1234567890|seconds}", 1, 10, "{time+1234567890}"), Case("let a = {timer|seconds}", 1, 10, "{timer}"),
        Case("let a = {nonce|hex:65}", 1, 20, "a nonce has 1 to 64 characters"), Case("let a = {nonce|hex:0}", 1, 20, "1 to 64"),
        Case("let a = {nonce|digits:33}", 1, 23, "a nonce has 1 to 32 characters"),
        Case("let a = {nonce|bytes:0}", 1, 22, "1 to 32"),
        Case("let a = {nonce|letters:4}", 1, 16, "an unknown filter, \"letters:4\""),
    ])
    func `A time or a nonce that can't be read`(_ test: Case) throws { try expectRefusal(test) }

    @Test(arguments: [
        Case("let a = {method|sha265}", 1, 17, "an unknown filter, \"sha265\"; use one of md5, sha1", "hmac:HASH:KEY"),
        Case("let a = {method|}", 1, 17, "an unknown filter, \"\""), Case("let a = {method|SHA256}", 1, 17, "\"SHA256\""),
        Case("let a = {method|lower | upper}", 1, 17, "an unknown filter, \"lower \""),
        Case("let a = {method|hex:2}", 1, 17, "\"hex:2\""),
        Case("let a = {method|hmac:sha256}", 1, 17, "\"hmac:sha256\""), Case("let a = {method|first}", 1, 17, "\"first\""),
        Case("let a = {method|first:x}", 1, 23, "a number of bytes that isn't a number"),
        Case("let a = {method|skip:-1}", 1, 22, "a number"),
        Case("let a = {method|last:}", 1, 22, "a number"), Case("let a = {method|drop-last:1234567890}", 1, 27, "a number"),
        Case(
            "let a = {method|encode:utf8}", 1, 24,
            "an unknown percent-encoding, \"utf8\"; use one of rfc3986, path, form, javascript"),
        Case("let a = {query|reencode:lower}", 1, 25, "an unknown percent-encoding"),
        Case("let a = {query|reencode:-lower}", 1, 25, "\"-lower\""),
        Case("let a = {method|decode:path}", 1, 17, "\"decode:path\""),
        Case("let a = {query|sort:values}", 1, 16, "\"sort:values\""),
        Case("let a = {method|replace::x}", 1, 25, "an empty text to look for"),
        Case("let a = {method|before:}", 1, 24, "an empty text"),
        Case("let a = {method|after:}", 1, 23, "an empty text"),
        Case("let a = {method|prefix:a:b}", 1, 17, #"prefix takes one text; write \: for a colon in it"#),
        Case("let a = {method|suffix::}", 1, 17, #"suffix takes one text; write \: for a colon"#),
        Case("let a = {method|default:a:b:c}", 1, 17, #"default takes one text"#),
        Case("let a = {method|before:http://}", 1, 17, #"before takes one text"#),
        Case("let a = {query|names:=:&}", 1, 16, #"names takes one text"#),
        Case("let a = {method|prefix}", 1, 17, "an unknown filter, \"prefix\""),
        Case("let a = {query|without}", 1, 16, "\"without\""), Case("let a = {query|join:=}", 1, 16, "\"join:=\""),
        Case("let a = {method|hmac:sha9:secret}", 1, 22, "an unknown hash, \"sha9\"; use one of md5, sha1, sha224"),
        Case(
            "let b = 1\nlet a = {method|hmac:sha256:c}", 2, 29,
            "an unknown key, \"c\"; use one of key, secret, passphrase, token, memo, b"),
        Case("let a = {method|hmac:sha256:a}", 1, 29, "an unknown key, \"a\""),
        Case("let a = {method" + String(repeating: "|hex", count: 17) + "}", 1, 10, "more than 16 filters"),
        Case("let a = {key}", 1, 10, "the value of api-key, which is not given: write --set api-key=ID"),
        Case("let a = {passphrase}", 1, 10, "the value of passphrase, which is not given: write --set passphrase=env:VARIABLE"),
        Case("let a = {method|hmac:sha256:token}", 1, 29, "the value of token, which is not given"),
        Case("when not token\nlet a = {token}\nend", 2, 10, "the value of token"),
    ])
    func `A filter or a key that can't be read`(_ test: Case) throws { try expectRefusal(test) }

    // MARK: Bounds

    private static let sign = "header X-Sign = {target|hmac:sha256:secret|hex}"

    @Test func `A recipe has at most 32 KiB`() throws {
        let comment = "#" + String(repeating: " x", count: (32 << 9) - 1)
        let longest = "\(comment.prefix((32 << 10) - Self.sign.utf8.count - 1))\n\(Self.sign)"
        #expect(longest.utf8.count == 32 << 10)
        _ = try makeToken(["recipe": longest])
        try expectRefusal(Case("\(longest)\n", 1, 1, "the recipe is larger than 32 KiB"))
    }

    @Test func `A recipe has at most 256 steps, and six conditions`() throws {
        let lines = (1...253).map { "let a\($0) = x" }
        // An output has two steps: its value, and sending it.
        let recipe = { (lines: ArraySlice<String>) in
            let names = lines.indices.map { "{a\($0 + 1)}" }.joined()
            return (lines + ["header X-Use = \(names)", Self.sign]).joined(separator: "\n")
        }
        _ = try makeToken(["recipe": recipe(lines.dropLast())])
        try expectRefusal(Case(recipe(lines[...]), 255, 8, "the recipe has more than 256 steps"))

        let conditions = (1...6).map { "when header X-\($0)\nend" }
        _ = try makeToken(["recipe": (conditions + conditions + [Self.sign]).joined(separator: "\n")])
        try expectRefusal(
            Case((conditions + ["when body\nend", Self.sign]).joined(separator: "\n"), 13, 1, "more than 6 different conditions"))
    }

    @Test func `Sixteen filters are the most`() throws {
        _ = try makeToken(["recipe": "header X = {method" + String(repeating: "|lower", count: 16) + "}\n\(Self.sign)"])
    }
}
