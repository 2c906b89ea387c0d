import NevodPluginKit
import Testing

@testable import OAuth2Auth

/// Tokens from a platform or a server, which may be anything.
struct WorkloadTests {
    private func token(_ claims: String) -> Secret {
        Secret("e30.\(Base64URL.encoded(Array(claims.utf8))).c2ln")
    }

    @Test(
        arguments: [
            (#"{"exp":1700000000}"#, 1_700_000_000), (#"{"exp":1.7e9}"#, 1_700_000_000), (#"{"exp":0}"#, 0),
            (#"{"exp":-1}"#, nil), (#"{"exp":9223372036854775807}"#, nil), (#"{"exp":1e300}"#, nil),
            (#"{"exp":"1700000000"}"#, nil),
            (#"{}"#, nil), ("[]", nil), ("", nil), ("{", nil), (#"{"exp":1700000000.5}"#, nil),
        ] as [(String, Int64?)])
    func `A JWT's expiry is read, and nothing else is taken for one`(_ claims: String, _ expected: Int64?) {
        #expect(Workload.expiry(of: token(claims)) == expected)
    }

    @Test(arguments: ["", ".", "..", "a.b", "a.!.c", "a.eyJleHAiOjF9.c.d", "eyJleHAiOjF9", String(repeating: ".", count: 60_000)])
    func `What is no JWT has no expiry`(_ text: String) {
        #expect(Workload.expiry(of: Secret(text)) == nil)
    }

    @Test func `Claims that are nested deeply have no expiry`() {
        let nested = String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        #expect(Workload.expiry(of: token(#"{"exp":1,"x":\#(nested)}"#)) == nil)
    }

    private static let idToken = "urn:ietf:params:oauth:token-type:id_token"

    @Test(
        arguments: [
            (["token_type": "Bearer"], nil, "Bearer"), (["token_type": "bearer", "issued_token_type": "x"], nil, "bearer"),
            (["token_type": "N_A"], idToken, "Bearer"),
            (["token_type": "n_a", "issued_token_type": .string(idToken)], idToken, "Bearer"),
            (["token_type": "DPoP"], idToken, "DPoP"), ([:], nil, nil),
        ] as [(JSONValue, String?, String?)])
    func `A type of token that the user has asked for is carried as a bearer token`(
        _ response: JSONValue, _ requested: String?, _ type: String?
    ) throws {
        #expect(try TokenExchange.checked(response, requested: requested)["token_type"]?.string == type)
    }

    private static let others: [(JSONValue, String?)] = [
        (["token_type": "N_A"], nil), (["token_type": "N_A", "issued_token_type": .string(idToken)], nil),
        (["token_type": "Bearer", "issued_token_type": "x"], idToken),
        (["token_type": "N_A", "issued_token_type": "x"], idToken),
    ]

    @Test(arguments: others)
    func `Another type of token is refused`(_ response: JSONValue, _ requested: String?) {
        #expect(throws: SchemeError.self) { try TokenExchange.checked(response, requested: requested) }
    }

    @Test func `Short names of token types are the registered ones`() throws {
        let names = ["access-token", "refresh-token", "id-token", "jwt", "saml1", "saml2"]
        let uris = try names.map { try TokenType.uri($0, setting: "x") }
        let registered = ["access_token", "refresh_token", "id_token", "jwt", "saml1", "saml2"]
        #expect(uris == registered.map { "urn:ietf:params:oauth:token-type:\($0)" })
        for text in ["", "mac", "Access-Token", "a b:c", "ü:x"] {
            #expect(throws: SchemeError.self) { try TokenType.uri(text, setting: "x") }
        }
    }
}
