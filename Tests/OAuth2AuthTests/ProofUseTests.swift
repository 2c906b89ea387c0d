import NevodPluginKit
import Testing

@testable import OAuth2Auth

/// The algorithm of a new key, and the nonces accepted from servers.
struct ProofUseTests {
    struct Case: CustomTestStringConvertible {
        let use: ProofUse
        let wanted: ProofAlgorithm?
        let supported: [String]
        let expected: ProofAlgorithm?
        var testDescription: String { "\(use) \(String(describing: wanted)) of \(supported)" }
    }

    @Test(arguments: [
        Case(use: .off, wanted: .es256, supported: ["ES256"], expected: nil),
        Case(use: .auto, wanted: nil, supported: [], expected: nil),
        Case(use: .auto, wanted: nil, supported: ["RS256", "PS256"], expected: nil),
        Case(use: .auto, wanted: nil, supported: ["ES384", "EdDSA", "ES256"], expected: .es256),
        Case(use: .auto, wanted: nil, supported: ["ES512", "EdDSA"], expected: .edDSA),
        Case(use: .auto, wanted: .es384, supported: ["ES256", "ES384"], expected: .es384),
        Case(use: .auto, wanted: .es384, supported: ["ES256"], expected: nil),
        Case(use: .required, wanted: nil, supported: [], expected: .es256),
        Case(use: .required, wanted: .edDSA, supported: [], expected: .edDSA),
        Case(use: .required, wanted: nil, supported: ["ES384"], expected: .es384),
        // Names are compared byte by byte.
        Case(use: .auto, wanted: nil, supported: ["es256", "ES256\u{301}"], expected: nil),
    ])
    func `The algorithm is the first that both sides know`(_ test: Case) throws {
        #expect(try test.use.algorithm(test.wanted, among: test.supported) == test.expected)
    }

    @Test func `A key that the server doesn't take is an error if one is required`() throws {
        let error = try #require(throws: SchemeError.self) { try ProofUse.required.algorithm(.es384, among: ["ES256"]) }
        #expect(error.message.contains("ES384") && error.message.contains("dpop-alg") && error.message.contains("dpop=auto"))
        #expect(throws: SchemeError.self) { try ProofUse.required.algorithm(nil, among: ["RS256"]) }
    }

    @Test(arguments: [
        (["eyJ7S_zG.eyJH0-Z.HX4w-7v"], true), (["!#[]~"], true), ([String(repeating: "n", count: 1024)], true),
        ([], false), ([""], false), (["a", "b"], false), (["a b"], false), (["a\"b"], false), ([#"a\b"#], false),
        (["a\u{7F}"], false), (["ä"], false), (["a\u{301}"], false), (["a\nb"], false),
        ([String(repeating: "n", count: 1025)], false),
    ])
    func `A nonce is one line of visible ASCII`(_ lines: [String], _ isNonce: Bool) {
        #expect(ProofNonce.of(lines) == (isNonce ? lines[0] : nil))
    }
}
