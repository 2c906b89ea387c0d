public import NevodPluginKit
internal import NevodSupport

/// OAuth 2.0 (RFC 6749): obtains, renews and revokes access tokens, and puts them on requests as bearer tokens (RFC 6750) or bound
/// to a key (RFC 9449).
struct OAuth2Auth: FlowScheme, RefreshFlow, LogoutFlow, ChallengeFlow {
    typealias Token = AccessToken

    static let id = "oauth2"
    static let title = "OAuth 2.0"
    // ECDSA draws a random number for each proof of a key.
    static let isNondeterministic = true

    // The server.
    @Setting("issuer", help: "The authorization server; its metadata names the endpoints") var issuer: IssuerURL?
    @Setting("authorization-url", help: "Where people log in and consent") var authorizationURL: ServerURL?
    @Setting("token-url", help: "Where tokens are issued") var tokenURL: ServerURL?
    @Setting("device-url", help: "Where a device code is issued") var deviceURL: ServerURL?
    @Setting("par-url", help: "Where authorization requests are pushed to") var pushedRequestURL: ServerURL?
    @Setting("revocation-url", help: "Where tokens are revoked") var revocationURL: ServerURL?
    @Setting("keys-url", help: "Where the keys are that verify the server's ID tokens") var keysURL: ServerURL?

    // The client.
    @Setting("grant", default: .code, help: "How a token is obtained") var grant: Grant
    @Setting("client-id", help: "The client's identifier at the server") var clientID: String?
    @Setting("client-secret", help: "The client's secret, if it has one") var clientSecret: Secret?
    @Setting("client-auth", default: .auto, help: "How the client proves who it is") var clientAuthentication: ClientMethod
    @Setting("client-key", help: "Private key of the client, as PEM or JWK, for private-key-jwt") var clientKey: Secret?
    @Setting("client-key-id", help: "The key's name at the server (kid)") var clientKeyID: String?
    @Setting("client-key-alg", help: "Algorithm of the client's assertions, if the key allows several")
    var clientKeyAlgorithm: AssertionAlgorithm?
    @Setting("client-assertion-audience", help: "Recipient of the client's assertions, if not the issuer")
    var clientAssertionAudience: String?

    // The request.
    @Setting("scope", help: "What the token may be used for, separated by spaces") var scope: String?
    @Setting("audience", help: "Recipient of the token") var audiences: [String]
    // Its type is a URL, so that a flow may ask the API which server issues its tokens.
    @Setting(
        "resource", help: "Address of the API that the token is for (RFC 8707); without issuer, it names the server (RFC 9728)")
    var resourceURLs: [ServerURL]
    @Setting("authorization-parameter", help: "Another parameter of the authorization request, NAME=VALUE")
    var authorizationParameters: [String]
    @Setting("token-parameter", help: "Another parameter of each token request, NAME=VALUE") var tokenParameters: [String]

    // The login of a person.
    @Setting("redirect-uri", help: "Where the server sends the browser; by default a free port of 127.0.0.1")
    var redirectURI: String?
    @Setting("paste-redirect", default: false, help: "Ask where the browser ended, for a browser on another machine")
    var pastesRedirect: Bool
    @Setting("response-mode", default: .query, help: "How the server responds to the browser") var responseMode: ResponseMode
    @Setting("pkce", default: true, help: "Bind codes to their login (RFC 7636); false for servers that refuse it")
    var usesPKCE: Bool
    @Setting("par", default: .auto, help: "Push the authorization request to the server (RFC 9126)")
    var pushedRequests: PushedRequests

    // The end of a session.
    @Setting("revoke", default: .both, help: "Which tokens a logout revokes at the server") var revokedTokens: RevokedTokens

    // Grants without a browser.
    let password = Password.Settings()
    @Setting("refresh-token", help: "A refresh token to begin with, for grant=refresh-token") var refreshToken: Secret?
    var exchange = TokenExchange.Settings()
    var assertions = JWTBearer.Settings()
    var workload = Workload()

    // The bearer token.
    @Setting("step-up", default: .ask, help: "Whether an API that demands another login gets one (RFC 9470)") var stepUp: StepUp

    // The key that tokens are bound to (RFC 9449).
    @Setting("dpop", default: .off, help: "Whether tokens are bound to a key of this client") var proofUse: ProofUse
    @Setting("dpop-alg", help: "Algorithm of that key; by default ES256, if the server accepts it")
    var proofAlgorithm: ProofAlgorithm?

    static let parameters = [
        ParameterDeclaration("scope", isRepeatable: true, help: "What this request's token may be used for"),
        ParameterDeclaration("audience", isRepeatable: true, help: "Recipient of this request's token"),
        ParameterDeclaration("resource", isRepeatable: true, help: "Address of the API that this request's token is for"),
    ]

    var needs: Needs { proofNeeds.union(.challenges) }

    let log = HostLog()

    var resources: [String] { resourceURLs.map { $0.text } }

    // Derived in prepare.
    private(set) var extraAuthorization = FormFields()
    private(set) var extraToken = FormFields()
    var clientSigner: AssertionSigner?

    mutating func prepare() throws(SchemeError) {
        try checkServer()
        extraAuthorization = try Self.fields(authorizationParameters, of: "authorization-parameter")
        extraToken = try Self.fields(tokenParameters, of: "token-parameter")
        try prepareClient()
        try prepareGrant()
        try checkLogin()
    }

    /// Sets a parameter of the authorization request. Replaces a parameter from the settings.
    mutating func setAuthorization(_ name: String, _ value: String) {
        extraAuthorization.remove(name)
        extraAuthorization.append(name, .text(value))
    }

    static func fields(_ items: [String], of setting: String) throws(SchemeError) -> FormFields {
        var fields = FormFields()
        for item in items {
            guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")), equals > item.startIndex else {
                throw .badSetting(setting, "must be NAME=VALUE")
            }
            fields.append(String(item[..<equals]), .text(String(item[item.utf8.index(after: equals)...])))
        }
        return fields
    }

    // MARK: Flows

    func login(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken {
        // This grant has no authorization server to find endpoints for.
        if grant == .metadata { return try await workloadToken(flow).issued }
        let server = try await TokenEndpoint(of: self, flow, try await endpoints(flow)).withProofs()
        var token = try await token(from: server)
        try await server.identify(&token)
        return token.issued
    }

    private func token(from server: TokenEndpoint) async throws(SchemeError) -> StoredToken {
        switch grant {
        case .code: try await AuthorizationCode(server).run()
        case .device: try await DeviceCode(server).run()
        case .clientCredentials: try await ClientCredentials(server).run()
        case .password: try await Password(server).run()
        case .tokenExchange: try await TokenExchange(server).run()
        case .jwtBearer: try await JWTBearer(server).run()
        case .refreshToken: try await GivenRefreshToken(server).run()
        case .metadata: try await workloadToken(server.flow)
        }
    }

    func refresh(_ flow: AuthFlow, _ token: AccessToken) async throws(SchemeError) -> IssuedToken {
        try await renew(flow, token.stored)
    }

    func logout(_ flow: AuthFlow, _ token: AccessToken) async throws(SchemeError) {
        try await revoke(flow, token.stored)
    }

    // MARK: Requests

    func authorize(_ request: borrowing RequestView, _ token: AccessToken, _ edits: Edits) throws(SchemeError) {
        if let binding = token.binding { return try authorize(request, token, boundBy: binding, edits) }
        edits.setHeader("Authorization", token.credential)
    }

    func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ token: AccessToken?, _ edits: ResponseEdits
    ) throws(SchemeError) -> Verdict {
        let hasNewNonce = keepNonce(of: response, request, token, edits)
        if let verdict = try proofVerdict(on: response, request, token) { return verdict }
        let verdict = try bearerVerdict(on: response, request, token)
        return verdict == .nothing && hasNewNonce ? .stateChanged : verdict
    }
}

extension FormFields {
    /// Removes all fields of a name.
    mutating func remove(_ name: String) {
        fields.removeAll { $0.name.utf8.elementsEqual(name.utf8) }
    }
}

private let plugin = PluginExport(OAuth2Auth.self, name: "OAuth2Auth", version: "0.2.0", vendor: "NevodHost")
// The contract defines this name.
// swift-format-ignore: AlwaysUseLowerCamelCase
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
