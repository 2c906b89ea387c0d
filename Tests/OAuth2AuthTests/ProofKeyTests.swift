import NevodPluginCrypto
import NevodPluginKit
import NevodSupport
import Testing

@testable import OAuth2Auth

/// The examples of RFC 9449 and RFC 7638, and our own keys. Tests/CommandLine/test_oauth_dpop.py judges what servers get.
struct ProofKeyTests {
    /// §4.1, figure 2.
    static let tokenRequest = """
        eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJo\
        RjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJ\
        qdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0Ijo\
        xNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg
        """

    /// §7.1, figure 13.
    static let resourceRequest = """
        eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJo\
        RjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJ\
        qdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXN\
        vdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yR\
        qzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA
        """

    /// RFC 7638 §3.1.
    static let modulus = """
        0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3ok\
        njhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu\
        6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8a\
        wapJzKnqDKgw
        """

    /// A proof, split into parts and verified with the key in its header.
    struct Verified {
        let header: JSONValue
        let claims: JSONValue
        let key: PublicKey

        init(_ proof: String, _ algorithm: SignatureAlgorithm) throws {
            let parts = proof.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            try #require(parts.count == 3)
            header = try Self.json(parts[0])
            claims = try Self.json(parts[1])
            key = try PublicKey(jwk: #require(header["jwk"]))
            let message = Array("\(parts[0]).\(parts[1])".utf8)
            let signature = try #require(Base64URL.decoded(parts[2]))
            let isSigned = key.isSignature(signature.span, of: message.span, algorithm)
            try #require(isSigned)
        }

        private static func json(_ part: String) throws -> JSONValue {
            let text = try #require(Base64URL.decoded(part))
            return try JSONValue(parsing: text.span)
        }
    }

    static let random = Array(UInt8(0)..<32)

    @Test func `The examples of RFC 9449 have the signature, the thumbprint and the token's hash that they say`() throws {
        let first = try Verified(Self.tokenRequest, ProofAlgorithm.es256.signature)
        #expect(first.claims["htu"] == "https://server.example.com/token")
        // §6.1, figure 8.
        #expect(try ProofKey.thumbprint(of: first.key) == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")

        let second = try Verified(Self.resourceRequest, ProofAlgorithm.es256.signature)
        let key = try ProofKey(.es256, from: Self.random)
        let binding = try KeyBinding(key, Secret("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"))
        #expect(second.claims["ath"]?.string == String(decoding: binding.tokenHash, as: UTF8.self))
    }

    @Test func `The thumbprint is that of RFC 7638's example`() throws {
        let key = try PublicKey(jwk: [
            "kty": "RSA",
            "n": .string(Self.modulus),
            "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
        ])
        #expect(try ProofKey.thumbprint(of: key) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test(arguments: ProofAlgorithm.allCases)
    func `A proof has what RFC 9449 demands, and nothing of the private key`(_ algorithm: ProofAlgorithm) throws {
        let key = try ProofKey(algorithm, from: Self.random)
        let proof = try key.proof(
            ProofKey.Claims(
                method: Array("GET".utf8), url: Array(#"https://example.com/a"\b"#.utf8) + [0x1F], issuedAt: -1,
                id: [0xFB, 0xFF], nonce: Array("n-1".utf8), tokenHash: Array("hash".utf8)))
        let verified = try Verified(String(decoding: proof, as: UTF8.self), algorithm.signature)
        #expect(verified.header["typ"] == "dpop+jwt" && verified.header["alg"]?.string == algorithm.rawValue)
        #expect(verified.header["jwk"]?["d"] == nil)
        #expect(
            verified.claims == [
                "jti": "-_8", "htm": "GET", "htu": "https://example.com/a\"\\b\u{1F}", "iat": -1, "ath": "hash", "nonce": "n-1",
            ])
        #expect(try key.thumbprint == ProofKey.thumbprint(of: verified.key))
    }

    @Test func `A proof without a token and a nonce has no claims for them`() throws {
        let key = try ProofKey(.es256, from: Self.random)
        let proof = try key.proof(
            ProofKey.Claims(method: Array("POST".utf8), url: Array("https://a.example/".utf8), issuedAt: 1, id: [0]))
        let claims = try Verified(String(decoding: proof, as: UTF8.self), ProofAlgorithm.es256.signature).claims
        #expect(claims == ["jti": "AA", "htm": "POST", "htu": "https://a.example/", "iat": 1])
    }

    @Test(arguments: ProofAlgorithm.allCases)
    func `A key is stored and read again`(_ algorithm: ProofAlgorithm) throws {
        let key = try ProofKey(algorithm, from: Self.random)
        let read = try ProofKey(stored: key.stored)
        #expect(read.algorithm == algorithm)
        #expect(try read.thumbprint == key.thumbprint)
        // A line of the stored token.
        #expect(key.stored.withUnsafeBytes { $0.allSatisfy { $0 >= 0x20 && $0 < 0x7F } })
    }

    @Test func `Other random bytes, and another algorithm, make another key`() throws {
        let keys = try [
            ProofKey(.es256, from: Self.random), ProofKey(.es256, from: Self.random.reversed()),
            ProofKey(.es384, from: Self.random), ProofKey(.edDSA, from: Self.random),
        ]
        let thumbprints = try keys.map { try $0.thumbprint }
        #expect(Set(thumbprints).count == 4)
        // The number isn't the random bytes themselves, because other values of a flow may be made from these.
        #expect(keys[3].stored != Secret("EdDSA \(Base64URL.encoded(Self.random))"))
    }

    @Test(arguments: [
        "", "ES256", "ES256 ", "ES256 AAAA", "ES256 !", "RS256 AAAA", "es256 AAAA",
        // Zero, and the order of P-256, are outside the range.
        "ES256 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "ES256 _____wAAAAD__________7zm-q2nF56E87nKwvxjJVE",
        "EdDSA AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ])
    func `A damaged key is no key, and the error doesn't show it`(_ text: String) throws {
        let error = try #require(throws: SchemeError.self) { try ProofKey(stored: Secret(text)) }
        #expect(error.message.contains("the key of the stored token is damaged"))
    }

    @Test func `A token that is bound to a key has it when it is read again`() throws {
        let key = try ProofKey(.edDSA, from: Self.random)
        var stored = StoredToken(accessToken: Secret("at"), type: "DPoP")
        stored.proofKey = key.stored
        stored.serverNonce = "n-1"
        let token = try stored.encoded.withUnsafeBytes { try AccessToken(decoding: Span(_unsafeBytes: $0)) }
        #expect(token.credential == Secret("DPoP at") && token.stored.serverNonce == "n-1")
        #expect(try token.binding?.key.thumbprint == key.thumbprint)

        stored.type = "Bearer"
        #expect(try AccessToken(stored).binding == nil)
        stored.type = "DPoP"
        stored.proofKey = nil
        #expect(throws: SchemeError.self) { try AccessToken(stored) }
    }
}
