import NevodPluginKit
import Testing

/// The formats of Docs/kit.md.
struct FormatExamples {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `Byte sinks`() {
        var message: [UInt8] = []
        message.append(ascii: "t=")
        message.append(decimal: 1_700_000_000)
        message.append(text: "&u=ü")
        message.append(byte: UInt8(ascii: "\n"))
        message.append(hex: [0x0A, 0xFF].span)
        message.append(upperCaseHex: [0x0A, 0xFF].span)
        message.append(base64: [0xFB].span)
        message.append(base64URL: [0xFB].span)
        message.append(lowercased: Array("X-Id".utf8).span)
        message.append(collapsed: Array(" a   b ".utf8).span)
        #expect(text(message) == "t=1700000000&u=ü\n0aff0AFF+w==-wx-ida b")

        let written = withByteWriter(capacity: 64) { writer in
            writer.append(ascii: "forgotten")
            writer.removeAll()
            writer.append(ascii: "a,b")
            writer.removeLast(1)
            writer.append(copying: 0..<1)
            return "\(writer.count) \(writer.bytes.count)"
        }
        #expect(written == "3 3")
    }

    @Test func `Times`() {
        let time: Int64 = 784_111_777_123_456_789
        #expect(TimeFormat.unixSeconds.text(unixNanoseconds: time) == "784111777")
        #expect(TimeFormat.unixMilliseconds.text(unixNanoseconds: time) == "784111777123")
        #expect(TimeFormat.httpDate.text(unixNanoseconds: time) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(TimeFormat.iso8601.text(unixNanoseconds: time) == "1994-11-06T08:49:37Z")
        #expect(TimeFormat.iso8601Milliseconds.text(unixNanoseconds: time) == "1994-11-06T08:49:37.123Z")
        #expect(TimeFormat.iso8601Basic.text(unixNanoseconds: time) == "19941106T084937Z")
        #expect(TimeFormat.iso8601BasicDate.text(unixNanoseconds: time) == "19941106")
        #expect(TimeFormat.iso8601Date.text(unixNanoseconds: time) == "1994-11-06")

        #expect(TimeFormat.iso8601.unixNanoseconds("1994-11-06T10:49:37+02:00") == 784_111_777_000_000_000)
        #expect(TimeFormat.httpDate.unixNanoseconds("yesterday") == nil)

        var bytes: [UInt8] = []
        bytes.append(time: time, as: .iso8601Date)
        #expect(bytes.count <= TimeFormat.capacity)
    }

    @Test func `Percent-encodings`() {
        #expect(PercentEncodingSet.rfc3986.encoded("a b/ü~*") == "a%20b%2F%C3%BC~%2A")
        #expect(PercentEncodingSet.rfc3986Path.encoded("a b/ü") == "a%20b/%C3%BC")
        #expect(PercentEncodingSet.path.encoded("a b/@:%") == "a%20b/@:%25")
        #expect(PercentEncodingSet.form.encoded("a b+~") == "a+b%2B%7E")
        #expect(PercentEncodingSet.javaScriptComponent.encoded("a b/(1)") == "a%20b%2F(1)")
        #expect(PercentEncodingSet.whatwgFragment.encoded("a b`c") == "a%20b%60c")
        #expect(PercentEncodingSet.whatwgQuery.encoded("a'b#") == "a'b%23")
        #expect(PercentEncodingSet.whatwgSpecialQuery.encoded("a'b#") == "a%27b%23")
        #expect(PercentEncodingSet.whatwgPath.encoded("a?b%20") == "a%3Fb%20")
        #expect(PercentEncodingSet.whatwgUserInfo.encoded("a:b@") == "a%3Ab%40")
        #expect(PercentEncodingSet.whatwgComponent.encoded("a&b") == "a%26b")
        #expect(PercentEncoding.decoded("a%20b+") == "a b+")
        #expect(PercentEncoding.decoded("a+b", plusIsSpace: true) == "a b")

        var bytes: [UInt8] = []
        bytes.append(percentEncoded: "a b", as: .rfc3986)
        bytes.append(percentDecoded: Array("%2B".utf8).span)
        #expect(text(bytes) == "a%20b+")
        #expect(PercentEncodingSet.capacity(for: 3) == 9)
    }

    @Test func `Canonical queries and paths`() {
        func canonical(_ query: String, as set: PercentEncodingSet? = nil, _ emptyValues: EmptyQueryValues) -> String {
            var bytes: [UInt8] = []
            bytes.append(canonicalQuery: Array(query.utf8).span, as: set, emptyValues: emptyValues)
            return text(bytes)
        }
        #expect(canonical("b=2&a=1&a", .asSent) == "a&a=1&b=2")
        #expect(canonical("b&a=1", .withSign) == "a=1&b=")
        #expect(canonical("b=&a=1", .withoutSign) == "a=1&b")
        #expect(canonical("b&a=1", .omitted) == "a=1")
        #expect(canonical("b=~&a=%2a", as: .rfc3986, .asSent) == "a=%2A&b=~")

        var path: [UInt8] = []
        path.append(normalizedPath: Array("/a//./b/../c d/".utf8).span, as: .rfc3986Path)
        #expect(text(path) == "/a/c%20d/")
    }

    @Test func `Base64 and hexadecimal digits`() {
        #expect(Base64.encoded([0xFB, 0xFF]) == "+/8=")
        #expect(Base64.encoded([0xFB, 0xFF], .url, padded: false) == "-_8")
        #expect(Base64.decoded("+/8=", .strict) == [0xFB, 0xFF])
        #expect(Base64.decoded("-_8", .strictURL) == [0xFB, 0xFF])
        #expect(Base64.decoded("+_8", .any) == [0xFB, 0xFF])
        #expect(Base64.decoded("+_8", .exact) == nil && Base64.decoded("-_8", .exact) == [0xFB, 0xFF])
        #expect(Base64URL.encoded([0xFB, 0xFF]) == "-_8")
        #expect(Base64URL.decoded("-_8") == [0xFB, 0xFF])

        #expect(Hexadecimal.text([0x0A, 0xFF]) == "0aff")
        #expect(Hexadecimal.bytes("0aFF") == [0x0A, 0xFF])
        #expect(Hexadecimal.secret(Secret("0aFF"))?.count == 2)
        #expect(Hexadecimal.digits(of: Secret("a")) == Secret("61"))
    }

    @Test func `JSON`() throws {
        let value = try JSONValue(parsing: #"{"access_token":"t","expires_in":3600.0,"ok":true,"scopes":["a"],"x":null}"#)
        #expect(value["access_token"]?.string == "t")
        #expect(value["expires_in"]?.integer == 3600)
        #expect(value["ok"]?.bool == true)
        #expect(value["scopes"]?[0] == .string("a"))
        #expect(value["x"] == .null)

        let sent: JSONValue = ["user": "ada", "password": .secret(Secret("pw")), "n": 1, "r": 0.5, "l": [true, nil]]
        #expect(sent.encoded == Secret(#"{"user":"ada","password":"pw","n":1,"r":0.5,"l":[true,null]}"#))
        #expect(JSONValue.object([JSONValue.Member("a", .array([.integer(1), .bool(false), .number(1.5)]))])["a"]?[2] == 1.5)

        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: "[1,]") }
        #expect(error?.offset == 3 && error?.problem.isEmpty == false)
    }

    @Test func `Forms`() {
        var form: FormFields = ["user": "ada", "password": .secret(Secret("p w"))]
        form.append("scope", "read")
        #expect(form.encoded == Secret("user=ada&password=p+w&scope=read"))
        #expect(FormFields(parsing: "a=1&b=x+y")["b"] == "x y")
        #expect(form.fields[0].name == "user" && form.fields[0].value.text == "ada" && form.fields[0].value == .text("ada"))
    }

    @Test func `Challenges`() throws {
        let challenges = Challenge.parse([#"Digest realm="a", nonce="n1", Negotiate YQ=="#])
        let digest = try #require(challenges.first { $0.isOf("digest") })
        #expect(digest["nonce"] == "n1")
        #expect(digest.parameters.map(\.name) == ["realm", "nonce"])
        #expect(digest == Challenge("Digest", [Challenge.Parameter("realm", "a"), Challenge.Parameter("nonce", "n1")]))
        #expect(challenges[1].scheme == "Negotiate" && challenges[1].token68 == "YQ==")
    }

    @Test func `Structured fields`() throws {
        let input = try #require(StructuredDictionary(parsing: [#"sig1=("@method" "@path";req);created=1;alg="x", b=?0"#]))
        let components = try #require(input["sig1"]?.items)
        #expect(components.map(\.value) == [.string("@method"), .string("@path")])
        #expect(components[1].parameters["req"] == .bool(true))
        #expect(input["sig1"]?.parameters.parameters.map(\.key) == ["created", "alg"])
        #expect(input.entries.map(\.key) == ["sig1", "b"] && input.entries[1].member.item?.value == .bool(false))

        let item = StructuredItem(.token("gzip"), ["q": .decimal(thousandths: 500)])
        #expect(item.text == "gzip;q=0.5")
        #expect(StructuredItem(parsing: ["gzip;q=0.5"]) == item)
        let list: StructuredList = [.item(StructuredItem(.bytes([1]))), .innerList([StructuredItem(.integer(7))], [:])]
        #expect(list.text == ":AQ==:, (7)" && list.members.count == 2)
        #expect(StructuredItem(.date(0)).text == "@0" && StructuredItem(.displayString("ü")).text == #"%"%c3%bc""#)
    }

    @Test func `Cookies`() throws {
        #expect(CookiePair.parse("a=1; b=2") == [CookiePair("a", "1"), CookiePair("b", "2")])
        #expect(CookiePair.parse("a=1")[0].name == "a" && CookiePair.parse("a=1")[0].value == "1")

        let line = try #require(SetCookieLine("__Host-id=x; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=60"))
        #expect(line.name == "__Host-id" && line.value == "x" && line.path == "/" && line.domain == nil)
        #expect(line.isSecure && line.isHTTPOnly && line.sameSite == "lax")
        #expect(line.expiry(setAt: 1000) == 1060)
        #expect(line.keepsItsPrefix(isHostOnly: true))

        #expect(CookieScope.host("www.example.com", matches: "example.com"))
        #expect(CookieScope.path("/app/x", matches: "/app"))
        #expect(CookieScope.defaultPath(of: "/app/login") == "/app")
        #expect(CookieScope.isAddress("127.0.0.1"))
    }

    @Test func `Secrets and locks`() {
        let secret = Secret("pw")
        #expect("\(secret)" == "[redacted]" && !secret.isEmpty && secret.count == 2)
        #expect(secret == Secret(copying: [0x70, 0x77]))
        #expect(secret.withUnsafeBytes { $0.first } == 0x70)
        #expect(String(revealing: secret) == "pw")
        var copy: [UInt8] = [1, 2]
        copy.withUnsafeMutableBytes { $0.wipe() }
        #expect(copy == [0, 0])

        let counter = Locked(0)
        counter.withLock { $0 += 1 }
        #expect(counter.withLock { $0 } == 1)
    }
}
