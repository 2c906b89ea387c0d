import NevodHost
import Testing

/// Each value of a recipe, for requests with unusual bytes.
struct RecipeValueTests {
    @Test func `Values of the request line`() throws {
        let query = "b=2&a=3&b=1&&a&a-b=0"
        try Evaluation.check([
            Evaluation("{method}", "b'POST'"), Evaluation("{scheme}", "b'https'"),
            Evaluation("{host}", "b'api.example.com:8443'"), Evaluation("{hostname}", "b'api.example.com'"),
            Evaluation("{port}", "b'8443'"), Evaluation("{target}", "b'/a%2Fb/%C3%B8%?\(query)'"),
            Evaluation("{path}", "b'/a%2Fb/%C3%B8%'"), Evaluation("{query}", "b'\(query)'"),
            Evaluation("{url}", "b'https://api.example.com:8443/a%2Fb/%C3%B8%?\(query)'"),
            Evaluation("{segment:1}", "b'a%2Fb'"), Evaluation("{segment:2}", "b'%C3%B8%'"),
            Evaluation("{segment:-1}", "b'%C3%B8%'"), Evaluation("{segment:-2}", "b'a%2Fb'"),
            Evaluation("{segment:1}", "b''", .get("https://h.example")),
            Evaluation("{segment:-1}", "b''", .get("https://h.example/a/")),
            Evaluation("{segment:-2}{segment:-1}", "b'a'", .get("https://h.example/a/")),
            Evaluation("{segment:2}", "b''", .get("https://h.example/a//b")),
            Evaluation("{method} {target} {query}.", "b'GET / .'", .get("https://h.example")),
            Evaluation("{target} {query}.", "b'/? .'", .get("https://h.example/?")),
            Evaluation("{path}", "b'//a/../b/./'", .get("https://h.example//a/../b/./")),
            Evaluation("{path}", "b'/%zz%2'", .get("https://h.example/%zz%2")),
            Evaluation("{url}", "b'http://h.example/'", .get("http://h.example")),
        ])
    }

    @Test func `Hosts and ports, also default ones and addresses of IPv6`() throws {
        try Evaluation.check([
            Evaluation("{host} {hostname} {port}", "b'h.example h.example 443'", .get("https://h.example/")),
            Evaluation("{host} {hostname} {port}", "b'h.example h.example 80'", .get("http://h.example/")),
            Evaluation("{host} {hostname} {port}", "b'h.example:80 h.example 80'", .get("https://h.example:80/")),
            Evaluation("{host} {hostname} {port}", "b'[::1] [::1] 443'", .get("https://[::1]/")),
            Evaluation("{host} {hostname} {port}", "b'[::1]:8080 [::1] 8080'", .get("http://[::1]:8080/")),
            Evaluation("{host} {hostname} {port}", "b'[fe80::1:2] [fe80::1:2] 80'", .get("http://[fe80::1:2]/")),
            Evaluation("{host} {hostname} {port}", "b'127.0.0.1:1 127.0.0.1 1'", .get("http://127.0.0.1:1/")),
        ])
    }

    @Test func `Items of the query`() throws {
        let sent = Sent.get("https://h.example/?a=x+y%2B%zz&b=&c&%C3%B8=%C3%a9&n=%00%0A&a%3Ab=1&=none&d=1=2&e%3F=q")
        try Evaluation.check([
            Evaluation("{query:a}", "b'x y+%zz'", sent), Evaluation("{query:b}", "b''", sent),
            Evaluation("{query:c}", "b''", sent), Evaluation("{query:ø}", "b'\\xc3\\xa9'", sent),
            Evaluation("{query:n}", "b'\\x00\\n'", sent), Evaluation(#"{query:a\:b}"#, "b'1'", sent),
            Evaluation("{query:d}", "b'1=2'", sent), Evaluation("[{query:none?}]", "b'[]'", sent),
            Evaluation("{query:a?}", "b'x y+%zz'", sent), Evaluation("[{query:A?}]", "b'[]'", sent),
            // Only the short form takes the whole query, sorted.
            Evaluation("{query:sorted}", "b'1'", .get("https://h.example/?b=2&sorted=1&a=3")),
        ])
    }

    @Test func `Fields of a form`() throws {
        let sent = Sent.body("a=x+y%2B%zz&b=&c&%C3%B8=%C3%a9&n=%00%0A&&d=1=2", "application/x-www-form-urlencoded")
        try Evaluation.check([
            Evaluation("{form:a}", "b'x y+%zz'", sent), Evaluation("{form:b}{form:c}", "b''", sent),
            Evaluation("{form:ø}", "b'\\xc3\\xa9'", sent), Evaluation("{form:n}", "b'\\x00\\n'", sent),
            Evaluation("{form:d}", "b'1=2'", sent), Evaluation("[{form:none?}]", "b'[]'", sent),
            Evaluation("[{form:a?}]", "b'[]'", .get("https://h.example/")), Evaluation("[{form:a?}]", "b'[]'", .body("")),
        ])
    }

    @Test func `Members of a JSON body`() throws {
        let sent = Sent.body(
            #" {"a": "x\u00e9\n\"\/\ud83d\ude00\u0000", "n": -1.50e+2, "t": true, "f": false, "z": null, "e": "", "#
                + #""o": {"b" : [1, "}"], "a": 5}, "l":[1,{"a":2}], "\u0062": "escaped", "a b": 7, "é": "ü"} "#)
        try Evaluation.check([
            Evaluation("{json:a}", "'xé\\n\"/😀\\x00'.encode()", sent), Evaluation("{json:n}", "b'-1.50e+2'", sent),
            Evaluation("{json:t}{json:f}{json:z}", "b'truefalsenull'", sent), Evaluation("[{json:e}]", "b'[]'", sent),
            Evaluation("{json:o}", #"b'{"b" : [1, "}"], "a": 5}'"#, sent), Evaluation("{json:l}", #"b'[1,{"a":2}]'"#, sent),
            Evaluation("{json:b}", "b'escaped'", sent), Evaluation("{json:a b}", "b'7'", sent),
            Evaluation("{json:é}", "'ü'.encode()", sent), Evaluation("[{json:none?}]", "b'[]'", sent),
            Evaluation("[{json:a?}]", "b'[]'", .body("{}")), Evaluation("[{json:a?}]", "b'[]'", .get("https://h.example/")),
            // A member's member isn't a member of the object.
            Evaluation("{json:a}", "b'2'", .body(#"{"b":{"a":1},"c":[{"a":3}],"a":2}"#)),
            Evaluation(
                "{json:a}", "b'[' * 63 + b']' * 63",
                .body(#"{"a":"# + String(repeating: "[", count: 63) + String(repeating: "]", count: 63) + "}")),
        ])
    }

    @Test func `Bodies`() throws {
        let odd = Sent(body: .bytes([0x00, 0xFF, 0x0A, 0x25]))
        var cases = [
            Evaluation("{body}", "BODY"), Evaluation("{body|length}", "b'5'"), Evaluation("{body}", "b'\\x00\\xff\\n%'", odd),
            Evaluation("[{body}]", "b'[]'", .get("https://h.example/")),
            Evaluation("{body|length}", "b'0'", .get("https://h.example/")), Evaluation("{body|length}", "b'0'", .body("")),
        ]
        for hash in ["sha256", "sha384", "sha512", "sha1", "md5"] {
            cases.append(Evaluation("{body|\(hash)}", "digest('\(hash)', BODY)"))
            cases.append(Evaluation("{body|\(hash)}", "digest('\(hash)', b'\\x00\\xff\\n%')", odd))
            for empty in [Sent.get("https://h.example/"), .body("")] {
                cases.append(Evaluation("{body|\(hash)}", "digest('\(hash)', b'')", empty))
            }
        }
        try Evaluation.check(cases)
    }

    @Test func `Headers of the caller`() throws {
        let sent = Sent(
            headers: [
                ("X-List", "one"), ("Date", "today"), ("X-Empty", ""), ("x-list", " two  three "), ("X-Acme-B", "2  3"),
                ("X-Acme-A", "1"), ("x-acme-b", "4"), ("X-Acmeish", "0"), ("X-Sign", "the caller's"), ("X-Text", "ü"),
            ])
        try Evaluation.check([
            Evaluation("{header:x-LIST}", "b'one, two  three'", sent), Evaluation("[{header:X-Empty}]", "b'[]'", sent),
            Evaluation("[{header:None?}]", "b'[]'", sent), Evaluation("{header:Date?}", "b'today'", sent),
            Evaluation("{header:x-text}", "'ü'.encode()", sent),
            Evaluation("{headers:Date;X-List}", "b'date:today\\nx-list:one, two three\\n'", sent),
            Evaluation("{headers:X-List;Date}", "b'x-list:one, two three\\ndate:today\\n'", sent),
            Evaluation("{headers:none?;date;x-empty?}", "b'date:today\\nx-empty:\\n'", sent),
            Evaluation("{headers:host}", "b'host:api.example.com:8443\\n'", sent),
            Evaluation("{headers:x-acme-*}", "b'x-acme-a:1\\nx-acme-b:2 3, 4\\n'", sent),
            Evaluation("[{headers:x-none-*}]", "b'[]'", sent),
            // The recipe writes X-Sign, so the caller's isn't sent.
            Evaluation("{headers:x-s*;date}", "b'date:today\\n'", sent),
        ])
    }

    @Test func `Settings`() throws {
        let settings = ["passphrase": "p|{}", "token": "t=1", "memo": "m\u{FC}", "api-key": "k\\n"]
        try Evaluation.check([
            Evaluation("{key}", "b'demo'"), Evaluation("{key}", #"b'k\\n'"#, settings: settings),
            Evaluation("{secret|sha256}", "digest('sha256', b's3cret')"),
            Evaluation("{passphrase}", "b'p|{}'", settings: settings),
            Evaluation("{token}", "b't=1'", settings: settings), Evaluation("{memo}", "b'm\\xc3\\xbc'", settings: settings),
            Evaluation("{secret|upper|md5}", "digest('md5', b'S3CRET')"),
            Evaluation("{passphrase|sha256}", "digest('sha256', b'p|{}')", settings: settings),
        ])
        // Decoded according to its encoding.
        for (encoding, text) in [("hex", "00fF10"), ("base64", "AP8Q"), ("base64", "AP8="), ("base64", "_-8")] {
            let expected = try Python.evaluate([
                encoding == "hex"
                    ? "digest('md5', bytes.fromhex('00ff10')).hex()"
                    : "digest('md5', base64.urlsafe_b64decode('\(text.replacing("=", with: ""))==')).hex()"
            ])
            let signed = try sign(
                Sent().request(), recipe: "header X-Value = {secret|md5|hex}\nheader X-Sign = {target|hmac:sha1:secret|hex}",
                ["secret-encoding": encoding], secret: text)
            #expect(signed.headers["X-Value"] == expected[0])
        }
    }
}
