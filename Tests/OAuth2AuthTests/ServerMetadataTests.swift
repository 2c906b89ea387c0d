import NevodSupport
import Testing

@testable import OAuth2Auth

struct ServerMetadataTests {
    private static let issuer = "https://id.example/a"

    private func metadata(_ members: String, of issuer: String = issuer) throws -> ServerMetadata {
        try ServerMetadata(Array(#"{"issuer":"\#(issuer)",\#(members)}"#.utf8).span, of: issuer)
    }

    @Test(arguments: ServerMetadata.Endpoint.allCases)
    func `Each endpoint is read, and one without TLS refused`(endpoint: ServerMetadata.Endpoint) throws {
        #expect(
            try metadata(#""\#(endpoint.rawValue)":"https://other.example/x?y=z""#)[endpoint]
                == .valid("https://other.example/x?y=z"))
        #expect(try metadata(#""x":1"#)[endpoint] == .missing)
        #expect(try metadata(#""\#(endpoint.rawValue)":null"#)[endpoint] == .missing)
        for text in ["http://other.example/x", "http://127.0.0.1/x", "http://id.example/a"] {
            let address = try metadata(#""\#(endpoint.rawValue)":"\#(text)""#)[endpoint]
            #expect(address == .invalid("is not an https URL: \"\(text)\""))
        }
    }

    @Test func `An endpoint for connections with a certificate goes first, if it is wanted`() throws {
        let both = try metadata(
            #""token_endpoint":"https://a/t","device_authorization_endpoint":"https://a/d","#
                + #""mtls_endpoint_aliases":{"token_endpoint":"https://b/t","revocation_endpoint":"http://b/r"}"#)
        #expect(both[.token] == .valid("https://a/t") && both[.token, alias: true] == .valid("https://b/t"))
        #expect(both[.device, alias: true] == .valid("https://a/d"))
        #expect(both[.revocation] == .missing)
        #expect(both[.revocation, alias: true] == .invalid("is not an https URL: \"http://b/r\""))
    }

    @Test func `An issuer on this machine may have endpoints on this machine without TLS`() throws {
        for (url, isValid) in [
            ("http://127.0.0.1:1/x", true), ("http://localhost/x", true), ("https://id.example/x", true),
            ("http://id.example/x", false),
        ] {
            let address = try metadata(#""token_endpoint":"\#(url)""#, of: "http://127.0.0.1:8080")[.token]
            #expect((address == .valid(url)) == isValid, "\(url)")
        }
    }

    @Test(arguments: ["https://id.example/a/", "https://id.example/A", "https://ID.example/a", "https://id.example/a%20", ""])
    func `Another issuer is refused, however alike`(issuer: String) {
        #expect(throws: ServerMetadata.Fault.otherIssuer("\"\(issuer)\"")) {
            try ServerMetadata(Array(#"{"issuer":"\#(issuer)"}"#.utf8).span, of: Self.issuer)
        }
    }

    @Test func `Words that could break a stored token's lines are left out`() throws {
        let words = try metadata(
            #""x":["private_key_jwt","a\nrefresh-token b","","a b",7,"\#(String(repeating: "a", count: 65))","none"]"#)
        #expect(words.words("x") == ["private_key_jwt", "none"])
        #expect(words.words("y") == [])
        let many = (0..<1000).map { "\"a\($0)\"" }.joined(separator: ",")
        #expect(try metadata(#""x":[\#(many)]"#).words("x").count == 64)
    }
}

struct BearerChallengeTests {
    // The examples of RFC 6750 §3, RFC 9470 §3 and RFC 9728 §5.1.
    @Test(arguments: [
        (#"Bearer realm="example""#, BearerChallenge.Fault.other),
        (#"Bearer realm="example", error="invalid_token", error_description="The access token expired""#, .other),
        (
            #"Bearer error="insufficient_user_authentication", error_description="A different authentication level is required", acr_values="myACR""#,
            .insufficientAuthentication
        ),
        (#"Bearer resource_metadata="https://resource.example.com/.well-known/oauth-protected-resource""#, .other),
        (#"Basic realm="x", DPoP error="insufficient_scope", scope="a b", Bearer"#, .insufficientScope),
        (#"Bearer, DPoP error="invalid_request""#, .invalidRequest),
        (#"Bearer error="Insufficient_Scope""#, .other),
    ])
    func `The fault is that of the challenge with an error`(line: String, fault: BearerChallenge.Fault) throws {
        #expect(try #require(BearerChallenge([line])).fault == fault)
    }

    @Test func `Parameters are read`() throws {
        let lines = [
            #"Bearer error="insufficient_user_authentication", acr_values="a b", max_age=5, scope="c d""#,
            #"DPoP algs="ES256", resource_metadata="https://api.example/x""#,
        ]
        let challenge = try #require(BearerChallenge(lines))
        #expect(challenge.acrValues == "a b" && challenge.maxAge == 5 && challenge.scope == "c d")
        #expect(challenge.resourceMetadata == "https://api.example/x")
    }

    @Test(arguments: ["Basic realm=\"x\"", "", "Negotiate abc=", "Cookie error=\"insufficient_scope\""])
    func `Challenges of other schemes are left alone`(line: String) {
        #expect(BearerChallenge([line]) == nil)
    }
}

struct StoredServerTests {
    @Test func `The endpoints of the metadata are kept with the token`() throws {
        var token = StoredToken(accessToken: Secret("a"), issuer: "https://id.example")
        token.subject = "4711"
        token.isSteppedUp = true
        var endpoints = Endpoints(issuer: "https://id.example", token: "https://id.example/token", source: .metadata)
        endpoints.revocation = "https://id.example/revoke"
        endpoints.clientMethods = ["private_key_jwt", "none"]
        endpoints.proofAlgorithms = ["ES256"]
        token.endpoints = endpoints
        let encoded = token.encoded
        let again = try encoded.withUnsafeBytes { try StoredToken(decoding: Span(_unsafeBytes: $0)) }
        #expect(again.subject == "4711" && again.isSteppedUp)
        let kept = try #require(again.endpoints)
        #expect(kept.source == .token && kept.issuer == "https://id.example" && kept.token == "https://id.example/token")
        #expect(kept.revocation == "https://id.example/revoke")
        #expect(kept.clientMethods == ["private_key_jwt", "none"] && kept.proofAlgorithms == ["ES256"])
    }

    @Test func `A token of an earlier version has none`() throws {
        let text = Array("1\naccess-token a\n".utf8)
        let token = try StoredToken(decoding: text.span)
        #expect(token.endpoints == nil && token.subject == nil && !token.isSteppedUp)
    }

    @Test func `A renewed token keeps the person and the server`() {
        var old = StoredToken(accessToken: Secret("a"))
        old.subject = "4711"
        old.isSteppedUp = true
        old.endpoints = Endpoints(token: "https://id.example/token")
        var renewed = StoredToken(accessToken: Secret("b"))
        renewed.keepMissing(of: old)
        #expect(renewed.subject == "4711" && renewed.endpoints?.token == "https://id.example/token" && !renewed.isSteppedUp)
    }
}
