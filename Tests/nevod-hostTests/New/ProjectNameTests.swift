import Testing

@testable import nevod_host

@Suite struct ProjectNameTests {
    @Test(
        "A name gives the names of the type and of files",
        arguments: [
            ("acme-keys", "AcmeKeysAuth", "acme_keys"), ("bank", "BankAuth", "bank"), ("acme-auth", "AcmeAuth", "acme_auth"),
            ("auth", "AuthAuth", "auth"), ("a2-b3", "A2B3Auth", "a2_b3"), ("x", "XAuth", "x"), ("o-2fa", "O2faAuth", "o_2fa"),
        ])
    func names(text: String, type: String, identifier: String) throws {
        let name = try ProjectName(text)
        #expect(name.type == type && name.identifier == identifier && name.text == text)
    }

    @Test(
        "A name that can't be a scheme's id is refused",
        arguments: ["", "-a", "a-", "a--b", "2fa", "Acme", "a_b", "a.b", "a b", "ä", "..", ".", "a\n", "a\u{0}"])
    func refused(text: String) {
        #expect(throws: UsageError.self) { try ProjectName(text) }
    }

    @Test("A name has at most 64 letters")
    func length() throws {
        #expect(try ProjectName(String(repeating: "a", count: 64)).text.count == 64)
        #expect(throws: UsageError.self) { try ProjectName(String(repeating: "a", count: 65)) }
    }
}
