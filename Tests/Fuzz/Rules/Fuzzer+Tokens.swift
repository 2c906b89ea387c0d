import NevodJWT
import NevodSupport

extension Fuzzer {
    /// The first byte says what the rest is: a token, claims, a key set or a PEM.
    static let jwt = Fuzzer("jwt") { input in
        var input = input
        switch input.byte() % 4 {
        case 0: checkToken(input.text)
        case 1: checkClaims(input.array)
        case 2: checkKeySet(input.array)
        default: _ = try? JSONWebKey(pem: input.text)
        }
    }

    private static func checkToken(_ text: String) {
        let verifier = JWTVerifier(algorithms: Set(JWTAlgorithm.allCases))
        let token = try? JSONWebToken(text)
        if let payload = try? verifier.verifiedPayload(text, with: KnownTokens.keys) {
            let signed = text.split(separator: ".", omittingEmptySubsequences: false).prefix(2).joined(separator: ".")
            expect(KnownTokens.signed.contains(signed), "only what the keys' owners have signed is accepted")
            expect(text.utf8.count <= 64 << 10, "an accepted token is within its limit")
            if token != nil { checkClaims(payload) }
        }
        _ = try? verifier.verify(text, with: KnownTokens.keys, at: 1_300_000_000)
        guard let token else { return }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        expect(parts.count == 3, "a token has three parts")
        for part in parts {
            let bytes = Base64.decoded(part, .strictURL)
            expect(bytes.map { encoded($0) } == part, "a part is encoded as it was written")
        }
        guard parts.count == 3, let header = Base64.decoded(parts[0], .strictURL) else { return }
        let second = try? JSONValue(parsing: header.span, repeatedNames: .refused)
        expect(second?["alg"]?.string == token.header.algorithm, "another reader finds the same algorithm")
        expect(second?["kid"]?.string == token.header.keyID, "another reader finds the same key identifier")
        expect(second?["crit"] == nil && second?["enc"] == nil, "no header that must be understood is accepted")
    }

    /// Finds the same claims as another reader, no more and no less.
    private static func checkClaims(_ json: [UInt8]) {
        let claims = try? JWTClaims(json: json)
        var members: [JSONValue.Member]?
        if case .object(let found)? = try? JSONValue(parsing: json.span, size: 64 << 10, depth: 32, repeatedNames: .refused) {
            members = found
        }
        expect((claims == nil) == (members == nil), "two readers accept the same claims")
        guard let claims, let members else { return }
        expect(claims.names.map { Array($0.utf8) } == members.map { Array($0.name.utf8) }, "two readers find the same names")
        // Each lookup goes through all names.
        for member in members.prefix(64) {
            let name = member.name
            expect(claims[name] == member.value, "two readers find the same value")
            expect(claims[string: name] == member.value.string, "two readers find the same text")
            expect(claims[boolean: name] == member.value.bool, "two readers find the same truth")
            switch member.value {
            case .integer(let integer):
                expect(claims[int: name] == Int(integer), "two readers find the same whole number")
                expect(claims[double: name] == Double(integer), "two readers find the same number")
            case .number(let number): expect(claims[double: name] == number, "two readers find the same number")
            default: expect(claims[int: name] == nil && claims[double: name] == nil, "only a number is one")
            }
            if let time = claims[time: name] { expect(time >= 0 && time <= 0x1p53, "a time is within its bounds") }
        }
        let verifier = JWTVerifier(algorithms: [], issuer: "joe", requiredClaims: ["exp"])
        if (try? verifier.check(claims, at: 1_300_000_000)) != nil {
            expect(claims.issuer == "joe" && (claims.expiresAt ?? 0) > 1_299_999_969, "accepted claims obey the rules")
        }
    }

    private static func checkKeySet(_ json: [UInt8]) {
        guard let set = try? JSONWebKeySet(json: json) else { return }
        guard case .array(let elements)? = (try? JSONValue(parsing: json.span, depth: 32, repeatedNames: .refused))?["keys"]
        else {
            return expect(false, "another reader finds the keys")
        }
        expect(set.keys.count + set.skipped == elements.count, "each key is read or skipped")
        expect(set.keys.count <= 256, "a set is within its limit")
        for key in set.keys.prefix(4) {
            expect(!key.algorithms.isEmpty, "a key is for an algorithm")
            for token in KnownTokens.forged {
                let accepted = try? JWTVerifier(algorithms: Set(JWTAlgorithm.allCases)).verifiedPayload(token, with: [key])
                expect(accepted == nil, "no key accepts an arbitrary signature")
            }
        }
    }

    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Base64.digitCount(bytes.count)) { text, count in
            guard let start = text.baseAddress else { return }
            Base64.encode(bytes.span, .url, to: start)
            count = Base64.digitCount(bytes.count)
        }
    }
}

/// Keys and tokens of RFC 7515 A.1 to A.3 and RFC 8037 A.4.
private enum KnownTokens {
    static let keys: [JSONWebKey] = [
        #"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
        #"{"kty":"RSA","e":"AQAB","n":""#
            + "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOW"
            + "vG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9k"
            + #"G4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#,
        #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
    ].compactMap { try? JSONWebKey(json: Array($0.utf8)) }

    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    static let signed: Set<String> = [
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(claims)", "eyJhbGciOiJSUzI1NiJ9.\(claims)", "eyJhbGciOiJFUzI1NiJ9.\(claims)",
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
    ]

    /// For each algorithm, with a signature of zeros of an allowed length.
    static let forged: [String] = [
        ("eyJhbGciOiJIUzI1NiJ9", 32), ("eyJhbGciOiJSUzI1NiJ9", 256), ("eyJhbGciOiJFUzI1NiJ9", 64), ("eyJhbGciOiJFZERTQSJ9", 64),
    ].map { "\($0).\(claims).\(String(repeating: "A", count: Base64.digitCount($1)))" }
}
