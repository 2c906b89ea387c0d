import NevodHost
import NevodPluginKit
import NevodSupport
import NevodTestSupport
import Testing

@testable import HMACAuth

/// The log of `explain`, and the warning about a query that isn't signed.
struct ExplanationTests {
    private static let export = PluginExport(HMACAuth.self, name: "HMACAuth", version: "1", vendor: "")

    /// Authorizes requests with one instance and returns the log's lines.
    private func lines(
        _ recipe: String, _ sent: [Sent], explain: String? = "true", secret: String = "s3cret", _ more: SchemeSettings = [:]
    ) throws -> [String] {
        var settings = more
        settings.add("secret", .secret(Secret(secret)))
        settings.add("api-key", .text("demo"))
        if !recipe.isEmpty { settings.add("recipe", .text(recipe)) }
        if let explain { settings.add("explain", .text(explain)) }
        let lines = Locked<[String]>([])
        let instance = try Plugin(builtIn: UnsafeRawPointer(Self.export.table)).scheme("hmac").makeInstance(
            settings: settings, clock: HostClock { someTime },
            log: { level, line in if line.isLoggedByScheme { lines.withLock { $0.append("\(level) \(line)") } } })
        for sent in sent {
            var request = try sent.request()
            try instance.token.authorize(&request)
        }
        return lines.withLock { $0 }
    }

    private static let get = Sent.get("https://h.example/a?b=1")

    @Test func `Each named step and each output is shown in its order`() throws {
        let recipe = #"""
            let at = {time|seconds}
            let path-1 = {path|upper}
            when body
            let hash = {body|sha256|hex}
            otherwise
            let hash =
            end
            let message = {method}\n{target}\n{at}\n{hash}
            let sign = {message|hmac:sha256:secret|base64}
            header X-Key = {key}
            header X-Time = {at}
            query sign = {sign}
            cookie c = {method|lower}-{path-1}
            """#
        let sign = try Python.evaluate(["b64(mac('sha256', b'GET\\n/a?b=1\\n1700000000\\n'))"])[0]
        #expect(
            try lines(recipe, [Self.get]) == [
                "2 at = 1700000000", "2 path-1 = /A", "2 hash = ", #"2 message = GET\n/a?b=1\n1700000000\n"#, "2 sign = \(sign)",
                "2 header X-Key = demo", "2 header X-Time = 1700000000", "2 query sign = \(sign)", "2 cookie c = get-/A",
            ])
    }

    @Test func `Nothing is logged without it`() throws {
        let recipe = "let m = {target}\nheader X = {m|hmac:sha256:secret|hex}"
        for explain in [nil, "false"] { #expect(try lines(recipe, [Self.get], explain: explain).isEmpty) }
    }

    @Test func `The short form is explained, too`() throws {
        let seen = try lines("", [.get("https://h.example/a")])
        #expect(seen.prefix(2) == ["2 timestamp = 1700000000", "2 body-hash = "])
        #expect(seen.contains(#"2 message = GET\n/a\n1700000000\n"#) && seen.contains("2 header X-Timestamp = 1700000000"))
    }

    /// In any form, the log contains neither a secret nor anything with which a request could be signed.
    @Test func `Secrets and derived keys are redacted`() throws {
        let recipe = #"""
            let plain = {secret}
            let raised = {secret|upper}
            let digits = {secret|hex}
            let joined = a{memo}b{path}
            let inside = {passphrase|hex}:{path}
            let again = {digits}
            let k-text = AWS4{secret}
            let k-date = {time|basic-date|hmac:sha256:k-text}
            let k-hex = {k-date|hex}
            let k-next = {method|hmac:sha256:k-date}
            let k-digits = {method|hmac:sha256:secret|hex}
            let k-bytes = {k-digits|from-hex}
            let k-last = {path|hmac:sha256:k-next}
            let hashed = {secret|sha256|hex}
            let mixed = {hashed}{path}
            let old = {mixed|md5|hex}
            let hashed-twice = {hashed|md5|base64}
            let coded = {memo|hmac:sha1:secret}
            let all = {plain}{raised}{joined}{inside}{again}{k-hex}{k-last}{hashed}{hashed-twice}{coded}
            header X-All = {all|sha256|hex}
            let sign = {joined|hmac:sha256:k-last|hex}
            header X-Sign = {sign}
            header X-Other = {method|hmac:sha1:k-bytes|hex}
            header X-Old = {old}
            header X-Token = {token|upper}
            """#
        let seen = try lines(
            recipe, [Self.get], secret: "s3cret-Kq7",
            ["memo": .secret(Secret("m3mo")), "passphrase": .secret(Secret("p4ss")), "token": .secret(Secret("t0ken"))])
        let values = Dictionary(
            seen.map { line in
                let parts = line.dropFirst(2).split(separator: " = ", maxSplits: 1)
                return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            }, uniquingKeysWith: { $1 })
        for name in [
            "plain", "raised", "digits", "again", "k-date", "k-hex", "k-next", "k-digits", "k-bytes", "k-last", "hashed",
            "hashed-twice", "coded", "header X-Token",
        ] { #expect(values[name] == "[redacted]", "\(name): \(values[name] ?? "nothing")") }
        #expect(
            values["joined"] == "a[redacted]b/a" && values["inside"] == "[redacted]:/a" && values["k-text"] == "AWS4[redacted]")
        #expect(values["mixed"] == "[redacted]/a")
        // The sent values were computed for this request only.
        for name in ["sign", "header X-Sign", "header X-Other", "old", "header X-Old", "header X-All"] {
            #expect(values[name]?.isEmpty == false && values[name] != "[redacted]", "\(name)")
        }
        let all = seen.joined(separator: "\n").lowercased()
        for secret in ["s3cret", "m3mo", "p4ss", "t0ken"] {
            #expect(!all.contains(secret) && !all.contains(Hexadecimal.text(Array(secret.utf8))), "\(secret)")
        }
    }

    @Test func `Characters that can't be seen are`() throws {
        let seen = try lines(
            #"""
            let lines = a\n\r\t\\b
            let spaces = \s a \s
            let digest = {path|md5}
            let control = {query:c}
            let text = ü😀
            let hidden = {query:h}
            header X-Lines = {lines|sha256|hex}
            header X-Use = {spaces|md5|hex}{digest|hex}{control|md5|hex}{text|md5|hex}{hidden|md5|hex}
            header X = {target|hmac:sha256:secret|hex}
            """#, [.get("https://h.example/a?c=%00x&h=a%E2%80%8Bb%E2%80%AE%C2%A0%EF%BB%BF%C2%85%C2%AD")])
        #expect(seen[0] == #"2 lines = a\n\r\t\\b"#)
        #expect(seen[1] == #"2 spaces = \s a \s"#)
        #expect(try seen[2] == "2 digest = 0x" + Python.evaluate(["digest('md5', b'/a').hex()"])[0])
        #expect(seen[3] == "2 control = 0x0078" && seen[4] == "2 text = ü😀")
        #expect(seen[5] == #"2 hidden = a\u{200b}b\u{202e}\u{a0}\u{feff}\u{85}\u{ad}"#)
    }

    @Test func `A long value takes several lines, and loses nothing`() throws {
        let text = String(repeating: "aü€😀b", count: 700)
        let seen = try lines("let m = {body}\nlet n = {m}x\nheader X = {n|hmac:sha256:secret|hex}", [.body(text)])
        for name in ["m", "n"] {
            let start = try #require(seen.firstIndex { $0.hasPrefix("2 \(name) = ") })
            let end = seen[(start + 1)...].firstIndex { $0.contains(" = ") } ?? seen.endIndex
            let whole = seen[start..<end].map { $0.dropFirst(2) }.joined()
            #expect(whole == "\(name) = \(text)\(name == "n" ? "x" : "")")
            #expect(seen[start..<end].allSatisfy { $0.utf8.count <= 1024 } && end - start > 5)
        }
    }

    @Test func `Nothing of a refused request is computed or explained`() throws {
        let recipe = """
            when body
            let x = {passphrase|base64}
            otherwise
            let x = a
            end
            header Y = {x}
            header X-S = {url|hmac:sha256:secret|hex}
            when body
            refuse no bodies
            end
            """
        let seen = Locked<[String]>([])
        var settings: SchemeSettings = ["secret": .secret(Secret("s3cret")), "passphrase": .secret(Secret("p4ssphr"))]
        for (name, value) in ["recipe": recipe, "explain": "true", "api-key": ""] { settings.add(name, .text(value)) }
        let instance = try Plugin(builtIn: UnsafeRawPointer(Self.export.table)).scheme("hmac").makeInstance(
            settings: settings, clock: HostClock { someTime },
            log: { _, line in if line.isLoggedByScheme { seen.withLock { $0.append(line) } } })
        var request = try Sent.body("b").request()
        let error = try #require(throws: PluginError.self) { try instance.token.authorize(&request) }
        #expect("\(error)".contains("the recipe refuses the request: no bodies"), "\(error)")
        #expect(seen.withLock { $0 }.isEmpty)
        request = try Self.get.request()
        try instance.token.authorize(&request)
        #expect(request.headers["Y"] == "a")
    }

    // MARK: The warning

    private static let warning = "3 the signature covers the path of the URL but not its query"

    @Test func `A query that the default message leaves out is told once`() throws {
        let bare = Sent.get("https://h.example/a")
        #expect(try lines("", [bare, bare], explain: nil).isEmpty)
        let seen = try lines("", [bare, Self.get, Self.get, bare, Self.get], explain: nil)
        #expect(seen.count == 1 && seen[0].hasPrefix(Self.warning), "\(seen)")
        #expect(seen[0].contains("preset=strict") && seen[0].contains("{target}"))
        // Each instance warns.
        #expect(try lines("", [Self.get], explain: nil).count == 1)
        #expect(try lines("accept unsigned-time", [Self.get], explain: nil).count == 1)
    }

    @Test func `A nonce that is the same for each request is told once`() throws {
        let recipe = "header X-Nonce = {nonce}\nlet m = {target}{nonce}\nheader X-Sign = {m|hmac:sha256:secret|hex}"
        #expect(try lines(recipe, [Self.get, Self.get], explain: nil).isEmpty)
        let seen = try lines(recipe, [Self.get, Self.get], explain: nil, ["nonce": "abc"])
        #expect(seen == ["3 each request has the same nonce, for a comparison; a server should accept it only once"])
    }

    @Test func `A message of one's own isn't warned about`() throws {
        for message in ["{method}{path}", "{target}", #"{method}\n{target}\n{timestamp}\n{body-hash}"#] {
            #expect(try lines("", [Self.get], explain: nil, ["message": .text(message)]).isEmpty)
        }
        #expect(try lines("header X = {path|hmac:sha256:secret|hex}", [Self.get], explain: nil).isEmpty)
    }
}
