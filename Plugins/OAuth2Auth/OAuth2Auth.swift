public import NevodPluginKit
internal import NevodSupport

/// OAuth 2.0 (RFC 6749): obtains, renews and revokes access tokens, and puts them on requests as bearer tokens (RFC 6750) or bound to a
/// key (RFC 9449).
struct OAuth2Auth: FlowScheme, RefreshFlow, LogoutFlow, ChallengeFlow {
    typealias Token = AccessToken

    static let id = "oauth2"
    static let title = "OAuth 2.0"
    // ECDSA draws a number for each proof of a key.
    static let isNondeterministic = true

    // The server.
    @Setting("issuer", help: "The authorization server; its metadata names the endpoints") var issuer: IssuerURL?
    @Setting("authorization-url", help: "Where people log in and consent") var authorizationURL: ServerURL?
    @Setting("token-url", help: "Where tokens are issued") var tokenURL: ServerURL?
    @Setting("device-url", help: "Where a device code is issued") var deviceURL: ServerURL?
    @Setting("par-url", help: "Where authorization requests are pushed to") var pushedRequestURL: ServerURL?
    @Setting("revocation-url", help: "Where tokens are revoked") var revocationURL: ServerURL?

    // The client.
    @Setting("grant", default: .code, help: "How a token is obtained") var grant: Grant
    @Setting("client-id", help: "The client's identifier at the server") var clientID: String?
    @Setting("client-secret", help: "The client's secret, if it has one") var clientSecret: Secret?
    @Setting("client-auth", default: .auto, help: "How the client proves who it is") var clientAuthentication: ClientMethod
    @Setting("client-key", help: "Private key of the client, as PEM or JWK, for private-key-jwt") var clientKey: Secret?
    @Setting("client-key-id", help: "The key's name at the server (kid)") var clientKeyID: String?

    // The request.
    @Setting("scope", help: "What the token may be used for, separated by spaces") var scope: String?
    @Setting("audience", help: "For whom the token is") var audiences: [String]
    @Setting("resource", help: "Address of the API that the token is for (RFC 8707)") var resources: [String]
    @Setting("authorization-parameter", help: "Another parameter of the authorization request, NAME=VALUE")
    var authorizationParameters: [String]
    @Setting("token-parameter", help: "Another parameter of each token request, NAME=VALUE") var tokenParameters: [String]

    // Grants without a browser.
    let password = Password.Settings()

    // The key that tokens are bound to (RFC 9449).
    @Setting("dpop", default: .off, help: "Whether tokens are bound to a key of this client") var proofUse: ProofUse
    @Setting("dpop-alg", help: "Algorithm of that key; ES256, if the server takes it") var proofAlgorithm: ProofAlgorithm?

    static let parameters = [
        ParameterDeclaration("scope", isRepeatable: true, help: "What this request's token may be used for"),
        ParameterDeclaration("audience", isRepeatable: true, help: "For whom this request's token is"),
        ParameterDeclaration("resource", isRepeatable: true, help: "Address of the API that this request's token is for"),
    ]

    var needs: Needs { proofNeeds.union(.challenges) }

    // Derived in prepare.
    private(set) var extraAuthorization = FormFields()
    private(set) var extraToken = FormFields()

    mutating func prepare() throws(SchemeError) {
        guard issuer != nil || tokenURL != nil else {
            throw .badSetting("issuer", "or token-url is needed, to know the authorization server")
        }
        extraAuthorization = try Self.fields(authorizationParameters, of: "authorization-parameter")
        extraToken = try Self.fields(tokenParameters, of: "token-parameter")
        try checkClient()
    }

    private static func fields(_ items: [String], of setting: String) throws(SchemeError) -> FormFields {
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
        let server = try await TokenEndpoint(of: self, flow, try await endpoints(flow)).withProofs()
        let token: StoredToken
        switch grant {
        case .code: token = try await AuthorizationCode(server).run()
        case .password: token = try await Password(server).run()
        }
        return token.issued
    }

    func refresh(_ flow: AuthFlow, _ token: AccessToken) async throws(SchemeError) -> IssuedToken {
        guard let refreshToken = token.stored.refreshToken else { return try await login(flow) }
        let server = try await TokenEndpoint(of: self, flow, try await endpoints(flow)).withProofs(renewing: token.stored)
        let fields: FormFields = ["grant_type": "refresh_token", "refresh_token": .secret(refreshToken)]
        var renewed = try await server.token(fields)
        renewed.keepMissing(of: token.stored)
        return renewed.issued
    }

    func logout(_ flow: AuthFlow, _ token: AccessToken) async throws(SchemeError) {
    }

    func challenge(_ flow: AuthFlow, _ response: FlowResponse, _ token: AccessToken?) async throws(SchemeError) -> IssuedToken {
        if let token { try await refresh(flow, token) } else { try await login(flow) }
    }

    // MARK: Requests

    func authorize(_ request: borrowing RequestView, _ token: AccessToken, _ edits: Edits) throws(SchemeError) {
        if let binding = token.binding { return try authorize(request, token, boundBy: binding, edits) }
        edits.setHeader("Authorization", token.credential)
    }

    func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ token: AccessToken?, _ edits: ResponseEdits
    ) throws(SchemeError) -> Verdict {
        let hasNewNonce = keepNonce(of: response, request, edits)
        if let verdict = try proofVerdict(on: response, request, token) { return verdict }
        return hasNewNonce ? .stateChanged : .nothing
    }
}

private let plugin = PluginExport(OAuth2Auth.self, name: "OAuth2Auth", version: "0.2.0", vendor: "NevodHost")
// The contract names it.
// swift-format-ignore: AlwaysUseLowerCamelCase
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
