import NevodSessions
import Testing

@testable import patterns

private let key =
    #"{"crv":"P-256","kid":"one","kty":"EC","#
    + #""x":"zKwWPzl6xkKsQ6VIknkhOlc7CkPF8CJ58MVttlqeU50","y":"TjxA5UYVddTZyX1clsZnGJKwJfSysG4U8FfvolahmYE"}"#
private let lasting =
    "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSIsInR5cCI6IkpXVCJ9."
    + "eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwic3ViIjoiYWRhIiwiYXVkIjoic2hvcCIsImlhdCI6MTcwMDAwMDAwMCwiZXhwIj"
    + "o0MTAyNDQ0ODAwfQ."
    + "JRqlSAbWk001nA3uY6ZKbLrm63YphmW-0c858xjGfkDrZFa2f8QAUTkCNxn_Ia7GZOpc2u2er5n4kW3qT2xCDA"
private let expired =
    "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSIsInR5cCI6IkpXVCJ9."
    + "eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwic3ViIjoiYWRhIiwiYXVkIjoic2hvcCIsImlhdCI6MTcwMDAwMDAwMCwiZXhwIj"
    + "oxNzAwMDAwMTAwfQ."
    + "14AgAfKkx4ECSGR1uQyi0gr72HW9FvoFEEuaj6YGmkHFACmC49tuEp5iBb6rJUn7KjzAFbh-5n8GIpsk7rsCUg"

private let issuer = "https://login.example.com"

private let server = Server { request in
    switch request.target {
    case "/.well-known/openid-configuration":
        Server.Answer(json: #"{"issuer": "\#(issuer)", "jwks_uri": "https://keys.example.com/set"}"#)
    case "/set": Server.Answer(json: #"{"keys": [\#(key)]}"#)
    default: Server.Answer(status: 404)
    }
}

@Test func `A token of the issuer has its user, an expired one none, and any other is an error`() async throws {
    let verification = Verification(issuer: issuer, session: server)
    #expect(try await verification.user(of: AuthTokens(accessToken: lasting, refreshToken: "r")) == "ada")
    #expect(try await verification.user(of: AuthTokens(accessToken: expired, refreshToken: "r")) == nil)
    let changed = AuthTokens(accessToken: lasting.dropLast(8) + "AAAAAAAA", refreshToken: "r")
    let error = await #expect(throws: JWTError.self) { try await verification.user(of: changed) }
    #expect(error?.code == .signature)
}

@Test func `A renewal passes only with a token of the issuer`() async throws {
    let old = AuthTokens(accessToken: "old", refreshToken: "r")
    for (issued, passes) in [(lasting, true), (expired, false), ("forged", false)] {
        let provider = Verification(issuer: issuer, session: server).verifying(Issuing(access: issued))
        #expect((try? await provider.refresh(old))?.accessToken == (passes ? issued : nil))
    }
}

private struct Issuing: TokenProvider {
    let access: String
    let tokens = SessionTokens(storage: InMemoryStorage())

    func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
        AuthTokens(accessToken: access, refreshToken: tokens.refreshToken)
    }
}
