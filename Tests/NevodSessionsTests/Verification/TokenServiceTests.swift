import Foundation
import NevodHost
import NevodSessions
import NevodSupport
import NevodTestSupport
import Testing

/// Introspection and revocation at Authlib's endpoints.
struct TokenServiceTests {
    private let server: ProbeServer
    private let basic = ClientAuthentication.basic(id: "basic", secret: Secret("s3cret"))
    private let access = "access+/=&é"

    init() async throws {
        server = try await ProbeServer.start("token_service")
    }

    private func introspection(_ authentication: ClientAuthentication) -> TokenIntrospection {
        TokenIntrospection(endpoint: "\(server.url)/introspect", authentication: authentication)
    }

    private func revocation(_ authentication: ClientAuthentication) -> TokenRevocation {
        TokenRevocation(endpoint: "\(server.url)/revoke", authentication: authentication)
    }

    /// - Parameter what: `log`, or a number of seconds for which the endpoints are busy.
    @discardableResult
    private func control(_ what: String) async throws -> [[JSONLine]] {
        let response = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(server.url)/control/\(what)"))
        return try JSONDecoder().decode([[JSONLine]].self, from: Data(await response.body.collect()))
    }

    /// An endpoint's name, a form's fields, or a query.
    private enum JSONLine: Decodable, Equatable {
        case text(String)
        case fields([[String]])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .fields(try container.decode([[String]].self))
            }
        }
    }

    @Test func `An active token has what the server says`() async throws {
        let token = try await introspection(basic).introspect(access, hint: .accessToken)
        #expect(token.isActive && token.scopes == ["orders:read", "orders:write"] && token.clientID == "basic")
        #expect(token.subject == "ada" && token.username == "Ada" && token.audience == ["shop", "bank"])
        #expect(token.issuer == "https://login.example.com" && token.tokenType == "Bearer")
        #expect(token.expiresAt == Date(timeIntervalSince1970: 4e9) && token.issuedAt == Date(timeIntervalSince1970: 1.7e9))
        #expect(token.members[int: "rate_limit"] == 17 && token.notBefore == nil && token.id == nil)
        #expect("\(token)" == "IntrospectedToken(active)")
        let form = [["token", access], ["token_type_hint", "access_token"]]
        #expect(try await control("log") == [[.text("introspection"), .fields(form), .text("")]])
    }

    @Test(arguments: ["unknown", "expired", "of form", "refresh"])
    func `A token that is unknown, expired, or another client's is not active`(text: String) async throws {
        let token = try await introspection(basic).introspect(text, hint: .accessToken)
        #expect(!token.isActive && token.scopes.isEmpty && token.subject == nil)
    }

    @Test func `A client may authenticate in the form`() async throws {
        let form = ClientAuthentication.form(id: "form", secret: Secret("s3cret"))
        #expect(try await introspection(form).introspect("of form").isActive)
        try await revocation(.publicClient(id: "public")).revoke("of public")
        try await revocation(form).revoke("of form")
        #expect(try await introspection(form).introspect("of form").isActive == false)
    }

    @Test(arguments: [
        ClientAuthentication.basic(id: "basic", secret: Secret("wrong")), .form(id: "basic", secret: Secret("s3cret")),
        .publicClient(id: "nobody"), .byInterceptor,
    ])
    func `A client that may not ask is told so`(authentication: ClientAuthentication) async throws {
        let error = await #expect(throws: TokenServiceError.self) {
            try await introspection(authentication).introspect("a secret token")
        }
        #expect(error?.code == .invalidClient && error?.endpoint == "\(server.url)/introspect")
        let text = "\(String(describing: error))"
        #expect(!text.contains("s3cret") && !text.contains("secret token") && text.contains("check the client's"))
    }

    @Test func `A revoked token is not active, and revoking again is no error`() async throws {
        for text in [access, access, "unknown"] { try await revocation(basic).revoke(text, hint: .accessToken) }
        #expect(try await introspection(basic).introspect(access).isActive == false)
    }

    @Test func `Both tokens of a session are revoked, the refresh token first`() async throws {
        try await revocation(basic).revoke(AuthTokens(accessToken: access, refreshToken: "refresh"))
        let forms = try await control("log").compactMap { if case .fields(let fields) = $0[1] { fields } else { nil } }
        #expect(
            forms == [
                [["token", "refresh"], ["token_type_hint", "refresh_token"]],
                [["token", access], ["token_type_hint", "access_token"]],
            ])
    }

    @Test func `A kind of token that the server doesn't revoke is an error, though not at a logout`() async throws {
        let error = await #expect(throws: TokenServiceError.self) {
            try await revocation(basic).revoke("x", hint: TokenTypeHint(rawValue: "saml2"))
        }
        #expect(error?.code == .unsupportedTokenType)
        // A server that revokes only refresh tokens.
        let partial = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let isRefresh = String(decoding: request.body, as: UTF8.self).contains("refresh_token")
                let body = isRefresh ? "" : #"{"error":"unsupported_token_type"}"#
                connection.write("HTTP/1.1 \(isRefresh ? 200 : 400) S\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let other = TokenRevocation(endpoint: partial.url, authentication: basic)
        try await other.revoke(AuthTokens(accessToken: "a", refreshToken: "r"))
        await #expect(throws: TokenServiceError.self) { try await other.revoke("a", hint: .accessToken) }
    }

    @Test func `A server that is busy is asked again, if it wants no long wait`() async throws {
        try await control("0")
        try await revocation(basic).revoke(access)
        #expect(try await control("log").count == 2)
        try await control("86400")
        let error = await #expect(throws: NetworkError.self) { try await revocation(basic).revoke(access) }
        #expect(error?.statusCode == 503)
    }
}

/// The same at django-oauth-toolkit's endpoints, which end a refresh token's access tokens, and decode a client's name and
/// secret.
struct ToolkitTests {
    @Test func `A client with any name and secret asks about tokens, and revokes them`() async throws {
        let folder = try TemporaryFolder()
        let server = try await ProbeServer.start("toolkit", [folder.path])
        let client = ClientAuthentication.basic(id: "shop: a & b", secret: Secret("s3cret+/=é%41"))
        let introspection = TokenIntrospection(endpoint: "\(server.url)/o/introspect/", authentication: client)
        let token = try await introspection.introspect("access")
        #expect(token.isActive && token.scopes == ["orders:read"] && token.username == "ada")
        #expect(token.expiresAt == Date(timeIntervalSince1970: 4_102_444_800) && token.clientID == "shop: a & b")
        #expect(try await introspection.introspect("unknown").isActive == false)
        let revocation = TokenRevocation(endpoint: "\(server.url)/o/revoke_token/", authentication: client)
        try await revocation.revoke("refresh", hint: .refreshToken)
        #expect(try await introspection.introspect("access").isActive == false)
        try await revocation.revoke(AuthTokens(accessToken: "access", refreshToken: "refresh"))
        let wrong = TokenRevocation(
            endpoint: "\(server.url)/o/revoke_token/", authentication: .basic(id: "shop: a & b", secret: Secret("wrong")))
        let error = await #expect(throws: TokenServiceError.self) { try await wrong.revoke("access") }
        #expect(error?.code == .invalidClient)
    }
}

/// Responses of malicious servers.
struct HostileTokenServiceTests {
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer()
    }

    private var introspection: TokenIntrospection {
        TokenIntrospection(endpoint: "\(server.url)/introspect", authentication: .bearer(Secret("client token")))
    }

    @Test(arguments: [
        "", "[]", "true", "{}", #"{"active":"true"}"#, #"{"active":1}"#, #"{"active":null}"#, #"{"active":false,"active":true}"#,
        #"{"active":true"#,
    ])
    func `A response without a clear state is an error, and never active`(body: String) async throws {
        server.respond(.init(body: body))
        await #expect(throws: NetworkError.parsingError) { try await introspection.introspect("t") }
    }

    @Test func `A response that repeats the token shows it in no error`() async throws {
        for (status, code) in [200, 400, 401, 500].flatMap({ [($0, #"bad \"my-secret-token\""#), ($0, "my-secret-token")] }) {
            server.respond(.init(status: status, body: #"{"error":"\#(code)","description":"my-secret-token"}"#))
            let error = await #expect(throws: (any Error).self) { try await introspection.introspect("my-secret-token") }
            var text = "\(String(describing: error))"
            if let error { dump(error, to: &text) }
            #expect(!text.contains("my-secret-token"))
            #expect((error as? NetworkError)?.responseBody?.isEmpty != false)
        }
    }

    @Test func `The token is in the body alone, and a redirect is not followed`() async throws {
        let other = try ScriptedServer()
        server.respond(.init(status: 307, headers: ["Location: \(other.url)/"]))
        let error = await #expect(throws: NetworkError.self) { try await introspection.introspect("my-secret-token") }
        #expect(error?.statusCode == 307 && other.count == 0)
        let request = try #require(server.requests.first)
        #expect(request.body == "token=my-secret-token" && !request.head.contains("my-secret-token"))
        #expect(request.head.contains("Authorization: Bearer client token"))
        #expect(request.head.contains("Content-Type: application/x-www-form-urlencoded"))
    }

    @Test func `A body that is too large is not read`() async throws {
        server.respond(.init(body: #"{"active":true,"x":""# + String(repeating: "x", count: 70_000) + #""}"#))
        await #expect(throws: NetworkError.invalidResponse) { try await introspection.introspect("t") }
    }

    @Test(arguments: ["http://login.example.com/introspect", "relative", "ftp://127.0.0.1/"])
    func `Tokens go over TLS or stay within this machine`(url: String) async throws {
        let introspection = TokenIntrospection(endpoint: url, authentication: .byInterceptor)
        await #expect(throws: NetworkError.invalidURL) { try await introspection.introspect("t") }
        let revocation = TokenRevocation(endpoint: url, authentication: .byInterceptor)
        await #expect(throws: NetworkError.invalidURL) { try await revocation.revoke("t") }
    }

    @Test func `Identifier and secret of a client are encoded before they are joined`() async throws {
        server.respond(.init(body: #"{"active":true}"#))
        let introspection = TokenIntrospection(
            endpoint: server.url, authentication: .basic(id: "a:b & é", secret: Secret("1+1=2%")))
        #expect(try await introspection.introspect("t").isActive)
        let field = try #require(
            server.requests.first?.head.split(separator: "\r\n").first { $0.hasPrefix("Authorization: Basic ") })
        let pair = try #require(Data(base64Encoded: String(field.dropFirst("Authorization: Basic ".count))))
        #expect(String(decoding: pair, as: UTF8.self) == "a%3Ab%20%26%20%C3%A9:1%2B1%3D2%25")
    }
}
