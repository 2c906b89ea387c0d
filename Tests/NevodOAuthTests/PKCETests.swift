import NevodOAuth
import NevodSupport
import Testing

struct PKCETests {
    @Test func `The challenge is the example in RFC 7636, Appendix B`() throws {
        let octets: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191, 240, 91,
            88, 5, 88, 83, 132, 141, 121,
        ]
        let verifier = Base64.encoded(octets, .url, padded: false)
        #expect(verifier == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(PKCE(verifier: Secret(verifier))?.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func `A verifier has 43 to 128 unreserved characters`() {
        #expect(PKCE.isVerifier(String(repeating: "aZ09-._~", count: 16)))
        for (text, count) in [("a", 0), ("a", 42), ("a", 129), ("ä", 43), ("+", 43)] {
            #expect(!PKCE.isVerifier(String(repeating: text, count: count)))
        }
    }
}
