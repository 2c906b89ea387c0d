import NevodPluginKit
import NevodTestSupport
import Testing

struct ChallengeTests {
    private static func challenge(
        _ scheme: String, token68: String? = nil, _ parameters: KeyValuePairs<String, String> = [:]
    ) -> Challenge {
        Challenge(scheme, token68: token68, parameters.map { .init($0.key, $0.value) })
    }

    /// The examples in the specifications, with their meaning.
    static let examples: [([String], [Challenge])] = [
        // RFC 9110 §11.6.1
        (
            [#"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#],
            [
                challenge("Basic", ["realm": "simple"]),
                challenge("Newauth", ["realm": "apps", "type": "1", "title": "Login to \"apps\""]),
            ]
        ),
        // RFC 7616 §3.9.1
        (
            [
                #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#,
                #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#,
            ],
            ["SHA-256", "MD5"].map {
                challenge(
                    "Digest",
                    [
                        "realm": "http-auth@example.org", "qop": "auth, auth-int", "algorithm": $0,
                        "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
                        "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
                    ])
            }
        ),
        // RFC 6750 §3
        ([#"Bearer realm="example""#], [challenge("Bearer", ["realm": "example"])]),
        (
            [#"Bearer realm="example", error="invalid_token", error_description="The access token expired""#],
            [
                challenge(
                    "Bearer",
                    ["realm": "example", "error": "invalid_token", "error_description": "The access token expired"])
            ]
        ),
        // RFC 9449 §7.1, §9
        (
            [#"DPoP error="invalid_token", error_description="Invalid DPoP key binding", algs="ES256""#],
            [
                challenge(
                    "DPoP", ["error": "invalid_token", "error_description": "Invalid DPoP key binding", "algs": "ES256"])
            ]
        ),
        (
            [#"Bearer error="invalid_token", error_description="Bearer", DPoP algs="ES256 PS256""#],
            [
                challenge("Bearer", ["error": "invalid_token", "error_description": "Bearer"]),
                challenge("DPoP", ["algs": "ES256 PS256"]),
            ]
        ),
        // RFC 4559 §5
        (["Negotiate"], [challenge("Negotiate")]),
        (["Negotiate a87421000492aa874209af8bc028"], [challenge("Negotiate", token68: "a87421000492aa874209af8bc028")]),
    ]

    @Test(arguments: examples)
    func `The examples of the specifications parse`(lines: [String], expected: [Challenge]) {
        #expect(Challenge.parse(lines) == expected)
    }

    @Test(
        arguments: [
            ("", []), (" , ,, ", []),
            ("Negotiate, Basic realm=x", [challenge("Negotiate"), challenge("Basic", ["realm": "x"])]),
            ("Negotiate YII=, NTLM", [challenge("Negotiate", token68: "YII="), challenge("NTLM")]),
            ("A abc==,B ~+/.-_==", [challenge("A", token68: "abc=="), challenge("B", token68: "~+/.-_==")]),
            // Only the next byte distinguishes a token68 from a parameter.
            ("A b=", [challenge("A", token68: "b=")]), ("A b=c", [challenge("A", ["b": "c"])]),
            ("A b= c", [challenge("A", ["b": "c"])]), ("A b=,c=d", [challenge("A", token68: "b=")]),
            ("A \t b \t= \t\"c\" ,\td = e", [challenge("A", ["b": "c", "d": "e"])]),
            (",, A b=1,, c=2 ,B , ,", [challenge("A", ["b": "1", "c": "2"]), challenge("B")]),
            (#"A b="", c="\\\"\,", d="é,;=""#, [challenge("A", ["b": "", "c": "\\\",", "d": "é,;="])]),
            ("A B=1, b=2", [challenge("A", ["B": "1", "b": "2"])]),
            // Faults. The challenges before them are kept.
            (#"A b=1, C d="e"#, [challenge("A", ["b": "1"])]), (#"A b=1, C d="e\"#, [challenge("A", ["b": "1"])]),
            ("A b=1, C d e", [challenge("A", ["b": "1"])]), ("A b=1, c=", []), ("A b=1, c=\u{7F}", []),
            ("A b=1 c=2", []), (#"A"b""#, []), (#"A b="c"d"#, []), ("=b", []), ("\"A\"", []), ("A/b", []), ("A é", []),
            ("b=1, A c=2", [challenge("A", ["c": "2"])]), ("A b=\"\u{1}\"", []), ("A ==", []),
        ] as [(String, [Challenge])])
    func `Lists, whitespace, quotes and malformed parts parse as specified`(line: String, expected: [Challenge]) {
        #expect(Challenge.parse([line]) == expected)
    }

    @Test func `Several lines are one list`() {
        let whole = Challenge.parse(["A b=1, c=2, D"])
        #expect(Challenge.parse(["A b=1", "c=2", "", "D"]) == whole)
        #expect(Challenge.parse(["A b=1", "\"fault", "D"]) == Challenge.parse(["A b=1, D"]))
        #expect(Challenge.parse(["A b=1", "c=2, \"fault", "D"]) == Challenge.parse(["A b=1, D"]))
    }

    @Test func `Names compare without regard to case`() {
        let challenge = Challenge.parse(["dIGEST Realm=x, REALM=y"])[0]
        #expect(challenge.isOf("Digest"))
        #expect(challenge["realm"] == "x")
        #expect(challenge["nonce"] == nil)
    }

    /// Every valid list of challenges is parsed correctly, with any optional spaces and empty elements.
    @Test func `A written challenge parses to the same challenge`() {
        var random = SeededRandom(seed: 9110)
        let words = ["a", "Z", "0", "!", "#", "~", "-", "."]
        let texts = ["a", " ", ",", "=", "\"", "\\", "é", "\t", "Basic realm=\"x\"", "/"]
        for _ in 0..<3000 {
            func token() -> String { "t" + random.text(of: words, upTo: 3) }
            let challenges = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? Challenge(
                        token(), token68: "x" + random.text(of: ["a", "+", "/", "."], upTo: 4) + random.text(of: ["="], upTo: 2))
                    : Challenge(
                        token(),
                        (0..<Int.random(in: 0...3, using: &random)).map { _ in .init(token(), random.text(of: texts, upTo: 4)) })
            }
            func gap() -> String { random.text(of: [" ", "\t"], upTo: 2) }
            let line = challenges.map { challenge in
                let parameters = challenge.parameters.map { parameter in
                    let quoted = parameter.value.map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
                    return "\(parameter.name)\(gap())=\(gap())\"\(quoted)\""
                }
                let rest = challenge.token68 ?? parameters.joined(separator: "\(gap()),\(gap())")
                return challenge.scheme + (rest.isEmpty ? "" : " \(gap())\(rest)")
            }.joined(separator: "\(gap()),\(gap()), ")
            #expect(Challenge.parse([line]) == challenges, "\(line)")
        }
    }

    @Test func `Random bytes parse without a crash`() {
        var random = SeededRandom(seed: 7616)
        let words = ["Basic", "realm", "=", "\"", ",", " ", "\\", "a", "/", "é", "\u{0}", "==", "\t"]
        var found = 0
        for _ in 0..<20_000 {
            let challenges = Challenge.parse([random.text(of: words, upTo: 12), random.text(of: words, upTo: 6)])
            found += challenges.count
            #expect(challenges.allSatisfy { !$0.scheme.isEmpty && ($0.token68 == nil || $0.parameters.isEmpty) })
        }
        #expect(found > 1000)
    }
}
