import NevodPluginCrypto
import Testing

@testable import OAuth2Auth

/// Aspects of assertions that the command line's tests, which Python's libraries judge, don't reach.
struct AssertionTests {
    private static let names = AssertionSigner.Names(key: "client-key", algorithm: "client-key-alg")

    /// The example of RFC 8037 Appendix A.1.
    private static let ed25519: JSONValue = [
        "kty": "OKP", "crv": "Ed25519", "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    ]

    /// An RSA key of 2048 bits: the example of RFC 7515 Appendix A.2.
    private static let rsa = jwk([
        "kty": "RSA",
        "n":
            "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yR"
            + "T-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXB"
            + "dQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9ia"
            + "GNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
        "e": "AQAB",
        "d":
            "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46su"
            + "i395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4"
            + "qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB"
            + "4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ",
        "p":
            "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8"
            + "cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
        "q":
            "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t"
            + "62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc",
        "dp":
            "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCj"
            + "n12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0",
        "dq":
            "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnw"
            + "gjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU",
        "qi":
            "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLE"
            + "dfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U",
    ])

    private static func jwk(_ members: KeyValuePairs<String, String>) -> JSONValue {
        .object(members.map { JSONValue.Member($0.key, .string($0.value)) })
    }

    private func signer(
        _ key: JSONValue, _ algorithm: AssertionAlgorithm? = nil, keyID: String? = nil
    ) throws -> AssertionSigner {
        try AssertionSigner(key: key.encoded, algorithm, keyID: keyID, Self.names)
    }

    /// A token's header, after its signature was verified.
    private func header(_ token: Secret, _ key: JSONValue, _ algorithm: SignatureAlgorithm) throws -> JSONValue {
        let text = String(revealing: token)
        let parts = text.split(separator: ".")
        try #require(parts.count == 3)
        let message = Array("\(parts[0]).\(parts[1])".utf8)
        let signature = try #require(Base64URL.decoded(parts[2]))
        let isValid = try PublicKey(jwk: key).isSignature(signature.span, of: message.span, algorithm)
        #expect(isValid)
        let header = try #require(Base64URL.decoded(parts[0]))
        return try JSONValue(parsing: header.span)
    }

    @Test func `A token of a key on a curve has its algorithm and its name`() throws {
        let token = try signer(Self.ed25519, keyID: "k").token([JSONValue.Member("a", 1)])
        #expect(try header(token, Self.ed25519, .edDSA) == ["alg": "EdDSA", "typ": "JWT", "kid": "k"])
    }

    @Test(
        arguments: [
            ([], "RS256"), (["RS256", "PS256"], "RS256"), (["PS256"], "PS256"), (["PS512", "PS256", "none"], "PS256"),
            (["ES256"], "RS256"),
        ] as [([String], String)])
    func `An RSA key's algorithm is one that the server takes`(_ accepted: [String], _ expected: String) throws {
        let token = try signer(Self.rsa).token([], accepted: accepted)
        let algorithm: SignatureAlgorithm = expected == "RS256" ? .rsaPKCS1(.sha256) : .rsaPSS(.sha256)
        #expect(try header(token, Self.rsa, algorithm)["alg"]?.string == expected)
    }

    @Test func `A chosen algorithm is used whatever the metadata say`() throws {
        let token = try signer(Self.rsa, .rs256).token([], accepted: ["PS256"])
        #expect(try header(token, Self.rsa, .rsaPKCS1(.sha256))["alg"] == "RS256")
    }

    @Test func `No error shows a part of the key`() throws {
        let key = String(revealing: Self.ed25519.encoded)
        for text in [String(key.dropLast()), key.replacing("Ed25519", with: "X25519"), key.replacing("OKP", with: "oct")] {
            let error = try #require(throws: SchemeError.self) {
                try AssertionSigner(key: Secret(text), nil, keyID: nil, Self.names)
            }
            #expect(!"\(error)".contains("nWGxne"), "\(error)")
        }
    }

    @Test(arguments: [(31, nil), (32, "HS256"), (47, "HS256"), (64, "HS256")] as [(Int, String?)])
    func `A secret is as long as its hash at least`(_ count: Int, _ algorithm: String?) throws {
        let secret = Secret(copying: [UInt8](repeating: 0x61, count: count))
        let signer = try? AssertionSigner(secret: secret, nil, Self.names)
        #expect(signer?.algorithms.first?.rawValue == algorithm)
        let isLongEnough = count >= 64
        #expect(((try? AssertionSigner(secret: secret, .hs512, Self.names)) != nil) == isLongEnough)
    }
}
