import NevodHost
import Testing

/// Escapes, names and chains of filters.
struct RecipeTemplateTests {
    @Test func `Each escape`() throws {
        try Evaluation.check([
            Evaluation(#"a\n\r\t\s\\\{\}\:\|{{}}ø"#, #""a\n\r\t \\{}:|{}ø".encode()"#), Evaluation("", "b''"),
            Evaluation("{{{method}}}", "b'{POST}'"), Evaluation(#"\s{method}\s"#, "b' POST '"),
            Evaluation("  {method}  ", "b'POST'"), Evaluation("a:b|c", "b'a:b|c'"), Evaluation("a = b", "b'a = b'"),
            Evaluation("{method}{method}", "b'POSTPOST'"), Evaluation("# no comment", "b'# no comment'"),
            Evaluation(#"{method|prefix:\:\|\{\}\\\n\s}"#, #"b':|{}\\\n POST'"#),
            Evaluation(#"{method|prefix: a |suffix: b }"#, "b' a POST b '"),
        ])
    }

    @Test func `A name stands for its value, as often as it is used`() throws {
        try Evaluation.check([
            Evaluation("{a}{b|upper}{a}", "b'POSTPOST-XPOST'", before: "let a = {method}\nlet b = {a}-x"),
            Evaluation("{c}", "b'POST'", before: "let a = {method}\nlet b = {a}\nlet c = {b}"),
            Evaluation("{a1-b}", "b'1'", before: "let a1-b = 1"),
            Evaluation("{timestamp}{body-hash}", "b'12'", before: "let timestamp = 1\nlet body-hash = 2"),
            Evaluation("{a}", "b'1'", before: "   # a comment\n\n\t\r\nlet   a=1"),
        ])
    }

    /// Hash functions read concatenations piece by piece, unless another step also reads these.
    @Test func `A message has one hash, whether it is built or not`() throws {
        let expected = "b'POST\\n/a%2Fb/%C3%B8%\\n1700000000\\ndemo\\ns3cret\\n' + BODY"
        let message = #"let message = {method}\n{path}\n{time|seconds}\n{key}\n{secret}\n{body}"#
        try Evaluation.check(
            ["sha256", "md5", "hmac:sha512:secret", "hmac:sha1:key"].flatMap { filter in
                let name = filter.split(separator: ":")
                let value =
                    name.count == 1
                    ? "digest('\(filter)', \(expected))"
                    : "mac('\(name[1])', \(expected), \(name[2] == "key" ? "b'demo'" : "b's3cret'"))"
                return [
                    Evaluation("{message|\(filter)}", value, before: message),
                    Evaluation("{message|\(filter)|hex}", "(\(value)).hex().encode()", before: message),
                    Evaluation(
                        "{message|\(filter)}{message|length|md5}", "\(value) + digest('md5', b'%d' % len(\(expected)))",
                        before: message),
                    Evaluation("{message|suffix:|\(filter)}", value, before: message),
                ]
            })
    }

    @Test func `A chain of keys, as AWS 4 derives them`() throws {
        let chain = """
            let k-secret = AWS4{secret}
            let k-date = {time|basic-date|hmac:sha256:k-secret}
            let region = us-east-1
            let k-region = {region|hmac:sha256:k-date}
            let service = iam
            let k-service = {service|hmac:sha256:k-region}
            let request = aws4_request
            let k-signing = {request|hmac:sha256:k-service}
            """
        var expected = "mac('sha256', b'20231114', b'AWS4s3cret')"
        for text in ["us-east-1", "iam", "aws4_request"] { expected = "mac('sha256', b'\(text)', \(expected))" }
        try Evaluation.check([
            Evaluation(
                "{target|hmac:sha256:k-signing}", "mac('sha256', b'/a%2Fb/%C3%B8%?b=2&a=3&b=1&&a&a-b=0', \(expected))",
                before: chain)
        ])
        // "Deriving a signing key", https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
        let signed = try sign(
            Sent().request(),
            recipe: "accept unbound-signature\n\(chain)\nheader X-Value = {k-signing|hex}",
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", at: 1_440_938_160_000_000_000)
        #expect(signed.headers["X-Value"] == "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9")
    }

    @Test func `An HMAC takes each kind of key`() throws {
        let settings = ["passphrase": "p", "token": "t", "memo": "m"]
        var cases = ["passphrase", "token", "memo"].map {
            Evaluation("{method|hmac:sha256:\($0)}", "mac('sha256', b'POST', b'\($0.prefix(1))')", settings: settings)
        }
        cases.append(Evaluation("{method|hmac:sha256:secret}", "mac('sha256', b'POST')"))
        cases.append(Evaluation("{method|hmac:sha256:key}", "mac('sha256', b'POST', b'demo')"))
        for key in ["", "k", String(repeating: "long", count: 64)] {
            cases.append(Evaluation("{method|hmac:sha512:k}", "mac('sha512', b'POST', b'\(key)')", before: "let k = \(key)"))
        }
        cases.append(
            Evaluation(
                "{method|hmac:md5:k|hmac:sha1:secret}", "mac('sha1', mac('md5', b'POST', digest('sha256', b's3cret')))",
                before: "let k = {secret|sha256}"))
        try Evaluation.check(cases)
    }
}
