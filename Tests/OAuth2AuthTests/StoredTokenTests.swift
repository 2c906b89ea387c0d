import NevodPluginKit
import NevodSupport
import Testing

@testable import OAuth2Auth

struct StoredTokenTests {
    private func decoded(_ text: String) throws -> StoredToken {
        try StoredToken(decoding: Array(text.utf8).span)
    }

    private func text(_ secret: Secret?) -> String? { secret.map { String(revealing: $0) } }

    @Test func `A token is read as it was written`() throws {
        var token = StoredToken(accessToken: Secret("a b"))
        token.type = "DPoP"
        token.refreshToken = Secret("r s")
        token.expiresAt = 1_700_000_000
        token.scope = "read write"
        token.issuer = "https://issuer.example/a"
        token.proofKey = Secret(copying: [0x20, 0xFF, 0x00] as [UInt8])
        token.account = "ada@example.com"
        let again = try token.encoded.withUnsafeBytes { try StoredToken(decoding: Span(_unsafeBytes: $0)) }
        #expect(text(again.accessToken) == "a b" && text(again.refreshToken) == "r s" && again.type == "DPoP")
        #expect(again.expiresAt == token.expiresAt && again.scope == token.scope && again.issuer == token.issuer)
        #expect(again.proofKey == token.proofKey && again.account == token.account)
        #expect(again.encoded == token.encoded)
    }

    @Test func `A text can't add a member`() throws {
        var token = StoredToken(accessToken: Secret("a"))
        token.account = "ada\naccess-token evil"
        let again = try token.encoded.withUnsafeBytes { try StoredToken(decoding: Span(_unsafeBytes: $0)) }
        #expect(text(again.accessToken) == "a")
    }

    @Test func `Members of a newer version are skipped`() throws {
        #expect(text(try decoded("1\naccess-token a\nfuture b c\n").accessToken) == "a")
    }

    @Test(arguments: [
        "", "\n", "1", "1\n", "2\naccess-token a\n", "1\naccess-token a", "1\naccess-token\n", "1\naccess-token \n",
        "1\nrefresh-token a\n", "1\naccess-token a\n\n", "1\naccess-token a\ntype Mac\n", "1\naccess-token a\ntype \n",
    ])
    func `Damage is refused`(_ text: String) {
        #expect(throws: SchemeError.self) { try decoded(text) }
    }

    private func response(_ json: String, random: UInt8? = nil) throws -> StoredToken {
        try StoredToken(try JSONValue(parsing: json), at: 1000, issuer: nil, random: random)
    }

    @Test(
        arguments: [
            (#""expires_in":60"#, 1060), (#""expires_in":"60""#, 1060), (#""expires_in":60.0"#, 1060), (#""expires_in":0"#, nil),
            (#""expires_in":-5"#, nil), (#""expires_in":"soon""#, nil), (#""expires_in":null"#, nil),
            (#""expires_in":9223372036854775807"#, 1_000_001_000), (#""expires_in":1e300"#, 1_000_001_000), (#""x":1"#, nil),
        ] as [(String, Int64?)])
    func `Lifetimes`(_ member: String, _ expiry: Int64?) throws {
        #expect(try response(#"{"access_token":"a",\#(member)}"#).expiresAt == expiry)
    }

    @Test func `A token expires a little early, at another time for each client`() throws {
        var times: Set<Int64?> = []
        for random in UInt8.min...UInt8.max {
            times.insert(try response(#"{"access_token":"a","expires_in":3600}"#, random: random).expiresAt)
        }
        #expect(times == Set<Int64?>([4590, 4591, 4592, 4593, 4594]))
        for lifetime in 1...9 { #expect(StoredToken.usable(Int64(lifetime), 0) == Int64(lifetime)) }
        for lifetime in Int64(1)...200 {
            for random in [0, 128, 255] as [UInt8] { #expect(StoredToken.usable(lifetime, random) > 0) }
        }
    }

    @Test(arguments: [("bearer", "Bearer"), ("BEARER", "Bearer"), ("Dpop", "DPoP")])
    func `Types in any letter case`(_ type: String, _ name: String) throws {
        #expect(try response(#"{"access_token":"a","token_type":"\#(type)"}"#).type == name)
    }

    @Test(arguments: [
        #"{}"#, #"{"access_token":""}"#, #"{"access_token":"a b"}"#, #"{"access_token":"a\n"}"#, #"{"access_token":1}"#,
        #"{"access_token":"a","token_type":"mac"}"#, #"{"access_token":"a","token_type":"bot"}"#,
        #"{"access_token":"a","refresh_token":"b\nc"}"#,
    ])
    func `Responses that are no token`(_ json: String) {
        #expect(throws: SchemeError.self) { try response(json) }
    }

    @Test func `What a response leaves out stays`() throws {
        var old = try response(#"{"access_token":"a","refresh_token":"r","scope":"x"}"#)
        old.proofKey = Secret("k")
        old.account = "ada"
        var new = try response(#"{"access_token":"b"}"#)
        new.keepMissing(of: old)
        #expect(text(new.refreshToken) == "r" && new.scope == "x" && text(new.proofKey) == "k" && new.account == "ada")
        var rotated = try response(#"{"access_token":"b","refresh_token":"s","scope":"y"}"#)
        rotated.keepMissing(of: old)
        #expect(text(rotated.refreshToken) == "s" && rotated.scope == "y")
    }

    @Test(
        arguments: [
            ("a b c", ["a b"], "a b"), ("a,b,c", ["c", "a"], "c a"), ("a b", ["a b"], nil), ("a b", ["a c"], nil),
            ("a b", [], nil),
            (nil, ["a"], nil), ("a b", ["a", "a"], "a a"),
        ] as [(String?, [String], String?)])
    func `A scope is sent with a refresh if it is narrower than the granted one`(
        _ granted: String?, _ asked: [String], _ sent: String?
    ) {
        #expect(Scopes.narrowed(from: granted, to: asked) == sent)
    }
}
