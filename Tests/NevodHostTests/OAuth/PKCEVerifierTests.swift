import Testing

@testable import NevodHost

struct PKCEVerifierTests {
    @Test func `The challenge is the example's of RFC 7636, Appendix B`() throws {
        let verifier = try PKCEVerifier("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(try verifier.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func `Verifiers and states are random, and can be restored`() throws {
        let verifiers = (0..<100).map { _ in PKCEVerifier().text }
        #expect(Set(verifiers).count == 100)
        #expect(verifiers.allSatisfy { $0.utf8.count == 43 })
        #expect(try PKCEVerifier(verifiers[0]).text == verifiers[0])
        let logins = (0..<100).map { _ in OAuthLogin(redirectURI: "app:/login") }
        #expect(Set(logins.map(\.state)).count == 100)
        #expect(Set(logins.map(\.verifier)).count == 100)
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 42), String(repeating: "a", count: 129), String(repeating: "ä", count: 43),
    ])
    func `A text that is no verifier is refused`(text: String) throws {
        let error = #expect(throws: OAuthError.self) { try PKCEVerifier(text) }
        #expect(error?.code == .invalidSetting)
    }

    @Test func `No part of a login is printed`() {
        let login = OAuthLogin(redirectURI: "app:/login", state: "the-state")
        var text = "\(login) \(login.verifier) \(String(reflecting: login))"
        dump(login, to: &text)
        #expect(!text.contains("the-state"))
        #expect(!text.contains(login.verifier.text))
    }
}
