import NevodJWT
import NevodSupport
import NevodTestSupport
import Testing

struct JSONWebKeyTests {
    private func key(_ json: String) throws -> JSONWebKey { try JSONWebKey(json: Array(json.utf8)) }

    private static let point =
        #""crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0""#

    private func rsa(bits: Int, exponent: [UInt8] = [1, 0, 1]) throws -> JSONWebKey {
        let modulus = MadeToken.encoded([UInt8](repeating: 0xFF, count: bits / 8))
        return try key("{\"kty\":\"RSA\",\"n\":\"\(modulus)\",\"e\":\"\(MadeToken.encoded(exponent))\"}")
    }

    @Test func `A key is for the algorithms of its kind and size`() throws {
        #expect(try rsa(bits: 2048).algorithms == [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512])
        #expect(try key("{\"kty\":\"EC\",\(Self.point)}").algorithms == [.es256])
        #expect(
            try key(#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#).algorithms == [.edDSA])
        for (count, algorithms) in [(32, [.hs256]), (48, [.hs256, .hs384]), (64, [.hs256, .hs384, .hs512])]
            as [(Int, [JWTAlgorithm])]
        {
            let secret = [UInt8](repeating: 7, count: count)
            #expect(try JSONWebKey(secret: Secret(copying: secret)).algorithms == algorithms)
            #expect(try key("{\"kty\":\"oct\",\"k\":\"\(MadeToken.encoded(secret))\"}").algorithms == algorithms)
        }
    }

    @Test func `A shared secret that is shorter than the hash is refused`() throws {
        #expect(code { try JSONWebKey(secret: Secret(String(repeating: "k", count: 31))) } == .key)
        #expect(code { try JSONWebKey(secret: Secret("")) } == .key)
        for (algorithm, least) in [(JWTAlgorithm.hs256, 32), (.hs384, 48), (.hs512, 64)] {
            let short = String(repeating: "k", count: least - 1)
            #expect(code { try JSONWebKey(secret: Secret(short), algorithm: algorithm) } == .key)
            #expect(try JSONWebKey(secret: Secret(short + "k"), algorithm: algorithm).algorithms == [algorithm])
        }
        #expect(code { try JSONWebKey(secret: Secret(String(repeating: "k", count: 64)), algorithm: .es256) } == .key)
    }

    @Test func `An RSA key of other than 2048 to 16384 bits is refused`() throws {
        for (bits, isUsable) in [(1024, false), (2040, false), (2048, true), (16384, true), (16392, false), (16400, false)] {
            #expect((code { try rsa(bits: bits) } == nil) == isUsable, "\(bits)")
        }
        for exponent in [[], [0], [1], [2], [1, 0, 0], [UInt8](repeating: 0xFF, count: 33)] as [[UInt8]] {
            #expect(code { try rsa(bits: 2048, exponent: exponent) } == .key, "\(exponent)")
        }
        for exponent in [[3], [0, 1, 0, 1]] as [[UInt8]] { #expect(code { try rsa(bits: 2048, exponent: exponent) } == nil) }
    }

    @Test func `A point must be on its curve, and have its size`() {
        let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        let zero = MadeToken.encoded([UInt8](repeating: 0, count: 32))
        for (curve, x, y) in [
            ("P-256", y, x), ("P-256", x, x), ("P-256", zero, zero), ("P-256", x, "AA" + y),
            ("P-256", String(x.dropLast(2)) + "A", y),
            ("P-384", x, y), ("P-521", x, y), ("secp256k1", x, y), ("Ed25519", x, y), ("", x, y),
        ] {
            #expect(
                code { try key("{\"kty\":\"EC\",\"crv\":\"\(curve)\",\"x\":\"\(x)\",\"y\":\"\(y)\"}") } == .key,
                "\(curve) \(x) \(y)")
        }
        for (curve, count) in [
            ("Ed25519", 31), ("Ed25519", 33), ("Ed25519", 57), ("Ed448", 32), ("Ed448", 56), ("X25519", 32), ("P-256", 32),
        ] {
            let x = MadeToken.encoded([UInt8](repeating: 1, count: count))
            #expect(code { try key("{\"kty\":\"OKP\",\"crv\":\"\(curve)\",\"x\":\"\(x)\"}") } == .key, "\(curve), \(count) bytes")
        }
    }

    @Test func `A key is used only for what its owner allows`() throws {
        func algorithms(_ members: String) throws -> [JWTAlgorithm] {
            try key("{\"kty\":\"EC\",\(Self.point),\(members)}").algorithms
        }
        for members in [
            #""use":"sig""#, #""key_ops":["verify"]"#, #""key_ops":["sign","verify"]"#, #""alg":"ES256""#, #""unknown":{}"#,
        ] {
            #expect(try algorithms(members) == [.es256], "\(members)")
        }
        for members in [
            #""use":"enc""#, #""use":1"#, #""key_ops":["sign"]"#, #""key_ops":[]"#, #""key_ops":"verify""#, #""key_ops":[1]"#,
            #""alg":"ES384""#, #""alg":"RS256""#, #""alg":"HS256""#, #""alg":"none""#, #""alg":"ECDH-ES""#, #""alg":7"#,
            #""kid":7"#,
            #""kty":"EC""#,
        ] { #expect(code { try algorithms(members) } == .key, "\(members)") }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"kty":7}"#, #"{"kty":"ec"}"#, #"{"kty":"oct"}"#, #"{"kty":"oct","k":7}"#, #"{"kty":"oct","k":"=="}"#,
        #"{"kty":"RSA","n":"AQ"}"#, #"{"kty":"RSA","e":"AQAB"}"#, #"{"kty":"RSA","n":"","e":"AQAB"}"#,
        #"{"kty":"RSA","n":"!","e":"AQAB"}"#,
        #"{"kty":"EC"}"#, #"{"kty":"OKP","crv":"Ed25519"}"#, "{\"kty\":\"oct\",\"k\":\"AA\",\"in\":[[[[[[[[[[]]]]]]]]]]}",
    ]) func `A malformed key is refused`(_ json: String) {
        #expect(code { try key(json) } == .key)
    }

    @Test func `Private members are ignored`() throws {
        let key = try key("{\"kty\":\"EC\",\(Self.point),\"d\":\"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI\",\"kid\":\"k1\"}")
        #expect(key.algorithms == [.es256] && key.keyID == "k1")
        let example = try #require(PublishedExamplesTests.examples.first { $0.algorithm == .es256 })
        _ = try JWTVerifier.lenient(.es256).verifiedPayload(example.token, with: [key])
    }

    @Test func `A key prints its algorithms alone`() throws {
        let key = try JSONWebKey(secret: Secret(String(repeating: "k", count: 64)), keyID: "k1")
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "JSONWebKey(HS256, HS384, HS512)")
        for shown in [String(reflecting: key), dumped] { #expect(!shown.contains("kkk") && !shown.contains("k1"), "\(shown)") }
    }

    @Test func `One key verifies by several algorithms in turn`() throws {
        let examples = PublishedExamplesTests.examples.filter { ["RFC 7520 4.1", "RFC 7520 4.2"].contains($0.testDescription) }
        #expect(examples.map(\.algorithm) == [.rs256, .ps384] && examples[0].key == examples[1].key)
        let rsa = try key(examples[0].key)
        for example in examples + examples.reversed() {
            _ = try JWTVerifier.lenient(.rs256, .ps384).verifiedPayload(example.token, with: [rsa])
        }

        let script = """
            import base64, hashlib, hmac
            encode = lambda data: base64.urlsafe_b64encode(data).decode().rstrip("=")
            for size in ("256", "384", "512", "256", "512", "384"):
                text = encode(('{"alg":"HS%s"}' % size).encode()) + "." + encode(b"{}")
                print(text + "." + encode(hmac.new(b"k" * 64, text.encode(), "sha" + size).digest()))
            """
        let secret = try JSONWebKey(secret: Secret(String(repeating: "k", count: 64)))
        let tokens = try Command.python(script)
        #expect(tokens.count == 6)
        for token in tokens {
            _ = try JWTVerifier.lenient(.hs256, .hs384, .hs512).verify(token, with: [secret], at: 0)
        }
    }

    @Test func `Many threads verify with one key at once`() async throws {
        let example = try #require(PublishedExamplesTests.examples.first { $0.algorithm == .es256 })
        let keys = try PublishedExamplesTests.examples.filter { $0.testDescription.hasPrefix("RFC 7515") }.map { try key($0.key) }
        #expect(keys.count == 4)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for round in 0..<20 {
                        for other in PublishedExamplesTests.examples where other.testDescription.hasPrefix("RFC 7515") {
                            let payload = try JWTVerifier.lenient(other.algorithm).verifiedPayload(other.token, with: keys)
                            #expect(payload == Array(other.payload.utf8), "\(other), round \(round)")
                        }
                        let forged = example.token.dropLast(2) + "AQ"
                        #expect(
                            code { try JWTVerifier.lenient(.es256).verifiedPayload(String(forged), with: keys) } == .signature)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
