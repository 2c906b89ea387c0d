import NevodOAuth
import NevodSupport
import Testing

/// How a client identifies and authenticates itself, and the order of its revocations.
struct ClientTests {
    private func fields(_ client: ClientIdentity) -> [String] { client.fields.map { "\($0.name)=\($0.text)" } }

    @Test func `Identifier and secret are encoded before they are joined for HTTP Basic`() throws {
        let client = ClientIdentity.basic("shop: a", Secret("s3cret+/=é%41*~-._"))
        let line = try #require(client.authorization)
        #expect(line.hasPrefix("Basic "))
        let pair = try #require(Base64.decoded(line.dropFirst(6), .strict))
        #expect(String(decoding: pair, as: UTF8.self) == "shop%3A%20a:s3cret%2B%2F%3D%C3%A9%2541*~-._")
        #expect(client.fields.isEmpty && client.secret == Secret("s3cret+/=é%41*~-._"))
    }

    @Test func `A proof in the form follows the identifier`() {
        let form = ClientIdentity.form("app", Secret("s&"))
        #expect(fields(form) == ["client_id=app", "client_secret=s&"])
        #expect(form.fields.map { $0.isSecret } == [false, true])
        let assertion = ClientIdentity.assertion(Secret("a.b.c"), id: "app")
        #expect(
            fields(assertion) == [
                "client_id=app", "client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion=a.b.c",
            ])
        #expect(assertion.fields.map { $0.isSecret } == [false, false, true])
        #expect(ClientIdentity.assertion(Secret("a.b.c"), id: nil).fields.count == 2)
        #expect([form, assertion].allSatisfy { $0.authorization == nil && $0.secret != nil })
    }

    @Test func `A client without a secret has its identifier alone`() {
        #expect(fields(.identifier("app")) == ["client_id=app"])
        #expect(fields(.unknown) == [] && ClientIdentity.unknown.authorization == nil && ClientIdentity.unknown.secret == nil)
        #expect(ClientIdentity.bearer(Secret("t")).authorization == "Bearer t")
    }

    private func sent(_ revocation: Revocation, _ responses: EndpointResponse...) -> (kinds: [String], failures: Int) {
        var (kinds, failures): ([String], Int) = ([], 0)
        var (revocation, responses) = (revocation, responses)
        while let kind = revocation.next {
            kinds.append(kind.rawValue)
            if !revocation.take(responses.removeFirst()) { failures += 1 }
        }
        return (kinds, failures)
    }

    private let done = response(200, "".utf8)
    private let unsupported = response(400, #"{"error":"unsupported_token_type"}"#.utf8)

    @Test func `The refresh token is revoked before the access token`() {
        #expect(sent(Revocation(hasRefreshToken: true), done, done) == (["refresh_token", "access_token"], 0))
        #expect(sent(Revocation(hasRefreshToken: true, sendsAccessToken: false), done) == (["refresh_token"], 0))
        #expect(sent(Revocation(hasRefreshToken: false, sendsAccessToken: false), done) == (["access_token"], 0))
    }

    @Test func `The access token is revoked even if the refresh token can't be`() {
        let outcome = sent(Revocation(hasRefreshToken: true), response(503, "".utf8), done)
        #expect(outcome == (["refresh_token", "access_token"], 1))
    }

    @Test func `A server may revoke refresh tokens only`() {
        #expect(sent(Revocation(hasRefreshToken: true), done, unsupported).failures == 0)
        #expect(sent(Revocation(hasRefreshToken: true), unsupported, done).failures == 1)
        #expect(sent(Revocation(hasRefreshToken: false), unsupported).failures == 1)
    }

    @Test(arguments: [
        (200, "", true), (200, "<html>", true), (400, #"{"error":"invalid_token"}"#, true),
        (200, #"{"ok":false,"error":"token_revoked"}"#, true), (503, #"{"error":"invalid_token"}"#, false),
        (200, #"{"error":"invalid_client"}"#, false), (400, "", false), (401, "", false), (404, "", false),
    ])
    func `A token that the server doesn't know is revoked`(status: Int, body: String, isRevoked: Bool) {
        #expect(Revocation.isRevoked(by: response(status, body.utf8)) == isRevoked)
    }
}
