import NevodJWT
import NevodSupport
import NevodTestSupport
import Testing

/// Compares each verdict with PyJWT's and Authlib's, for every algorithm.
struct PeersTests {
    private struct Verdict {
        let algorithm: String
        let name: String
        let token: String
        let key: JSONValue
        let algorithms: Set<JWTAlgorithm>
        let now: Double
        let peers: [String: String]

        init(_ line: String) throws {
            let json = try JSONValue(parsing: Array(line.utf8).span)
            algorithm = try #require(json["algorithm"]?.string)
            name = try #require(json["case"]?.string)
            token = try #require(json["token"]?.string)
            key = try #require(json["key"])
            guard case .array(let names) = json["algorithms"] else { throw Command.Failure(description: "no algorithms") }
            algorithms = Set(names.compactMap { $0.string.flatMap(JWTAlgorithm.init) })
            now = Double(try #require(json["now"]?.integer))
            peers = ["PyJWT": try #require(json["pyjwt"]?.string), "Authlib": try #require(json["authlib"]?.string)]
        }

        func readKey() throws -> JSONWebKey {
            if let pem = key["pem"]?.string { return try JSONWebKey(pem: pem) }
            if let jwk = key["jwk"]?.string { return try JSONWebKey(json: Array(jwk.utf8)) }
            let secret = try #require(key["secret"]?.string.flatMap { Base64.decoded(Array($0.utf8), .strictURL) })
            return try JSONWebKey(secret: Secret(copying: secret))
        }
    }

    /// The refusals that each case may get. Empty for accepted cases.
    private static let expected: [String: Set<JWTError.Code>] = [
        "valid": [],
        "expired": [.expired], "not yet valid": [.notYetValid], "issued ahead": [.notYetValid],
        "other audience": [.audience], "odd audience": [.audience], "other issuer": [.issuer], "no expiry": [.missingClaim],
        "odd time": [.claim], "odd subject": [.claim], "number too large": [.malformed],
        "none": [.algorithm], "unknown algorithm": [.algorithm], "algorithm not accepted": [.algorithm],
        "no algorithm": [.malformed], "no signature": [.signature], "wrong key": [.signature],
        "key confusion": [.algorithm, .noKey], "relabelled": [.noKey, .signature],
        "truncated": [.malformed, .signature],
        // A changed byte may rename the header's algorithm, or remove it from the token.
        "flipped 0": [.malformed, .algorithm, .signature], "flipped 1": [.malformed, .signature], "flipped 2": [.signature],
        "signature length": [.signature], "other padding": [.signature], "oversized": [.tooLarge],
        "padded": [.malformed], "white space": [.malformed], "unused bits": [.malformed], "extra part": [.malformed],
        "encrypted": [.encrypted], "critical": [.critical], "repeated": [.malformed], "nested": [.nested],
        "compressed": [.nested], "odd header": [.malformed], "not an object": [.malformed], "too deep": [.malformed],
    ]

    /// Cases that a peer accepts, and why we don't.
    private static let stricter: [String: [String: String]] = [
        "PyJWT": [
            "odd time": "It converts a text to a number, and knows no bound for a time (RFC 7519 §2 wants a number).",
            "number too large": "Python reads 1e400, NaN and Infinity, which JSON doesn't have (RFC 8259 §6).",
            "oversized": "It reads tokens of any size.",
            "encrypted": "It doesn't look at enc, which belongs to JWE (RFC 7516 §4.1.2).",
            "padded": "It takes padding away that RFC 7515 §2 forbids.",
            "repeated": "Python takes the last of two members; RFC 7515 §4 and RFC 7519 §4 allow to refuse them.",
            "nested": "It doesn't look at cty, and returns the claims of the outer token.",
            "compressed": "It doesn't look at zip, which belongs to JWE (RFC 7516 §4.1.3).",
            "odd header": "It doesn't check typ, which is a string (RFC 7515 §4.1.9).",
            "too deep": "It reads as deeply as Python's stack allows.",
        ],
        "Authlib": [
            "odd time": "It knows no bound for a time.",
            "number too large": "Python reads 1e400, NaN and Infinity.",
            "issued ahead": "It doesn't compare iat with the clock.",
            "odd audience": "It looks only for the expected one.",
            "odd subject": "It doesn't check the kind of sub.",
            "oversized": "It reads tokens of any size.",
            "encrypted": "It doesn't look at enc in a token of three parts.",
            "padded": "Python's base64 skips padding.",
            "white space": "Python's base64 skips white space.",
            "unused bits": "Python's base64 skips them.",
            "repeated": "Python takes the last of two members.",
            "critical":
                "It accepts critical names that are registered, such as exp, and an empty list (RFC 7515 §4.1.11 forbids both).",
            "nested": "It doesn't look at cty.",
            "compressed": "It doesn't look at zip.",
            "odd header": "It doesn't check kid and typ.",
            "too deep": "It reads as deeply as Python's stack allows.",
        ],
    ]

    @Test func `PyJWT and Authlib accept each token that is accepted, and each difference has a reason`() throws {
        let seed = Rounds("JWT", default: 1).seed >> 1
        let lines = try Command.output([
            "/usr/bin/python3", "-B", "\(repository)/Tests/NevodJWTTests/Judges/tokens.py", "\(seed)",
        ])
        .split(separator: "\n").map(String.init)
        #expect(lines.count >= 1400)
        var (differences, codes): ([String: Set<String>], [String: Set<JWTError.Code>]) = ([:], [:])
        var algorithms: [String: Int] = [:]
        for line in lines {
            let verdict = try Verdict(line)
            let what = "\(verdict.algorithm), \(verdict.name), seed \(seed): \(verdict.token.prefix(2000))"
            let verifier = JWTVerifier(
                algorithms: verdict.algorithms, issuer: "https://id.example.com", audience: "orders", leeway: .zero)
            let code: JWTError.Code?
            let key = try verdict.readKey()
            do throws(JWTError) {
                _ = try verifier.verify(verdict.token, with: [key], at: verdict.now)
                code = nil
            } catch { code = error.code }
            let expected = try #require(Self.expected[verdict.name], "\(verdict.name)")
            #expect(code.map(expected.contains) ?? expected.isEmpty, "\(String(describing: code)) for \(what)")
            for (peer, said) in verdict.peers {
                if code == nil { #expect(said == "accepted", "\(peer) refuses with \(said): \(what)") }
                guard code != nil, said == "accepted" else { continue }
                differences[peer, default: []].insert(verdict.name)
            }
            if code == nil { algorithms[verdict.algorithm, default: 0] += 1 }
            if let code { codes[verdict.name, default: []].insert(code) }
        }
        #expect(differences.mapValues { $0.sorted() } == Self.stricter.mapValues { $0.keys.sorted() })
        #expect(algorithms.count == 14 && algorithms.values.allSatisfy { $0 == 5 }, "\(algorithms)")
        // Both ways of rejecting an HMAC made with a public key have occurred.
        #expect(codes["key confusion"] == [.algorithm, .noKey])
    }
}
