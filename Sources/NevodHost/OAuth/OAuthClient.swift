internal import NevodOAuth
public import NevodSupport

/// Obtains, renews and revokes tokens at an OAuth 2.0 authorization server (RFC 6749), for a program that loads no plugin.
///
/// ```swift
/// let client = try OAuthClient(issuer: "https://login.example.com", clientID: "app", scopes: ["orders"])
/// let authentication = AuthenticationInterceptor(tokenStorage: storage, refreshStrategy: client.refresh)
/// ```
///
/// (An ``AuthenticationInterceptor``, in contrast, decides when a token is renewed, once for all requests that carry it.)
///
/// - Requests go only to the server's endpoints, over TLS unless the server is on this machine. The client doesn't follow
///   redirects, and doesn't repeat requests by itself.
/// - Responses are JSON (some servers send forms), and at most 1 MiB. A response that repeats a name counts as unreadable.
/// - Each failure is an ``OAuthError``. It ends the session only if the server says that the grant is no longer valid.
///
/// Copies share what they know about the server. Tokens bound to a key (RFC 9449, RFC 8705) are not supported.
public struct OAuthClient: Sendable {
    /// How the client authenticates to the server (RFC 6749 §2.3).
    public enum Authentication: Sendable {
        /// With its identifier alone, for a client that can't keep a secret, such as an app (`none`).
        case none
        /// With a secret in the Authorization field (`client_secret_basic`).
        case basic(Secret)
        /// With a secret in the form, for servers that accept it nowhere else (`client_secret_post`).
        case post(Secret)
    }

    /// The client's identifier at the server (RFC 6749 §2.2).
    public let clientID: String
    /// The scopes to request, unless a call names others (RFC 6749 §3.3).
    public let scopes: [String]
    private let authentication: Authentication
    private let tokenParameters: ParameterList
    let knowledge: OAuthServerKnowledge
    let requests: OAuthRequests
    let clock: HostClock

    /// Creates a client of a server with known endpoints.
    ///
    /// - Parameters:
    ///   - server: the endpoints.
    ///   - clientID: the client's identifier at the server.
    ///   - authentication: how the client authenticates to the server.
    ///   - scopes: the scopes to request.
    ///   - tokenParameters: more parameters of each token request, such as `audience` or `resource` (RFC 8707).
    ///   - provider: sends the requests. Its interceptors may add header fields, but fields that hold credentials are removed.
    ///   - timeout: limits each request.
    /// - Throws: ``OAuthError`` for an empty identifier or secret, a scope that can't be sent, or a parameter that the client
    ///   itself sets.
    public init(
        server: OAuthServer, clientID: String, authentication: Authentication = .none, scopes: [String] = [],
        tokenParameters: ParameterList = [:], provider: NetworkProvider = NetworkProvider(session: CurlSession()),
        timeout: Duration = .seconds(30)
    ) throws(OAuthError) {
        try self.init(
            OAuthServerKnowledge(server), clientID, authentication, scopes, tokenParameters,
            OAuthRequests(provider: provider, timeout: timeout))
    }

    /// Creates a client of a server with a known issuer. The issuer's metadata, which names the endpoints, is read once, before
    /// the first request (``OAuthServer/discover(issuer:provider:timeout:)``).
    ///
    /// - Parameters:
    ///   - issuer: the issuer's identifier, exactly as its metadata names it.
    ///   - clientID: the client's identifier at the server.
    ///   - authentication: how the client authenticates to the server.
    ///   - scopes: the scopes to request.
    ///   - tokenParameters: more parameters of each token request, such as `audience` or `resource` (RFC 8707).
    ///   - provider: sends the requests. Its interceptors may add header fields, but fields that hold credentials are removed.
    ///   - timeout: limits each request.
    /// - Throws: ``OAuthError`` for an issuer that isn't https, an empty identifier or secret, a scope that can't be sent, or a
    ///   parameter that the client itself sets.
    public init(
        issuer: String, clientID: String, authentication: Authentication = .none, scopes: [String] = [],
        tokenParameters: ParameterList = [:], provider: NetworkProvider = NetworkProvider(session: CurlSession()),
        timeout: Duration = .seconds(30)
    ) throws(OAuthError) {
        _ = try OAuthServer.checkedIssuer(issuer)
        try self.init(
            OAuthServerKnowledge(issuer: issuer, provider, timeout), clientID, authentication, scopes, tokenParameters,
            OAuthRequests(provider: provider, timeout: timeout))
    }

    private init(
        _ knowledge: OAuthServerKnowledge, _ clientID: String, _ authentication: Authentication, _ scopes: [String],
        _ tokenParameters: ParameterList, _ requests: OAuthRequests, clock: HostClock = .system
    ) throws(OAuthError) {
        guard !clientID.isEmpty else { throw OAuthError(.invalidSetting, "the client's identifier is empty") }
        switch authentication {
        case .basic(let secret) where secret.isEmpty, .post(let secret) where secret.isEmpty:
            throw OAuthError(.invalidSetting, "the client's secret is empty; without a secret, use the authentication .none")
        case .none, .basic, .post: break
        }
        try Self.check(tokenParameters, of: "tokenParameters")
        self.knowledge = knowledge
        self.clientID = clientID
        self.authentication = authentication
        self.scopes = scopes
        self.tokenParameters = tokenParameters
        self.requests = requests
        self.clock = clock
        _ = try scope(scopes)
    }

    /// The server's endpoints. If only the issuer is known, the first call reads its metadata. Concurrent callers share one read,
    /// and a failure is not kept.
    ///
    /// - Throws: ``OAuthError``.
    public func server() async throws(OAuthError) -> OAuthServer {
        try await knowledge.server()
    }

    // MARK: Tokens

    /// Renews a token (RFC 6749 §6). Use it as the strategy of an ``AuthenticationInterceptor``, or of any other owner of a
    /// ``TokenStorage`` that runs it once for all requests that need the token. If you call it yourself, don't run it twice at
    /// once for one token: a server that rotates refresh tokens would end the session.
    ///
    /// If the server asks to wait (429 or 503 with `Retry-After`), later calls fail with the same error, without asking the
    /// server again, until the wait ends, but for at most five minutes.
    ///
    /// - Parameter old: the token to renew. The new token keeps its refresh token and its scope where the server's response
    ///   leaves them out.
    /// - Throws: ``OAuthError``: `loginRequired` without a refresh token; an error that ends the session if the server refused
    ///   the refresh token. After any other error, the old token is worth keeping.
    public func refresh(_ old: OAuthToken?) async throws(OAuthError) -> OAuthToken {
        guard let old, let refreshToken = old.refreshToken else {
            throw OAuthError(.loginRequired, "there is no refresh token; log in")
        }
        let grant: ParameterList = ["grant_type": "refresh_token", "refresh_token": refreshToken]
        return try await unlessAskedToWait { () async throws(OAuthError) in
            try await token(grant, for: "the renewal of the token")
        }
        .keepingRefreshToken(of: old)
    }

    /// Obtains a token for the client itself (RFC 6749 §4.4). As a strategy: `{ _ in try await client.clientCredentials() }`.
    ///
    /// - Parameter scopes: nil for the client's.
    /// - Throws: ``OAuthError``. If the server asks to wait, later calls fail as in ``refresh(_:)``.
    public func clientCredentials(scopes: [String]? = nil) async throws(OAuthError) -> OAuthToken {
        var grant: ParameterList = ["grant_type": "client_credentials"]
        grant.parameters += try scope(scopes)
        return try await unlessAskedToWait { [grant] () async throws(OAuthError) in
            try await token(grant, for: "the client's token")
        }
    }

    /// Obtains a token by another grant (RFC 6749 §4.5), such as a token exchange (RFC 8693 §2.1) or an assertion (RFC 7523
    /// §2.1).
    ///
    /// ```swift
    /// let token = try await client.token(
    ///     grant: "urn:ietf:params:oauth:grant-type:jwt-bearer", parameters: ["assertion": assertion])
    /// ```
    ///
    /// - Parameters:
    ///   - grant: the value of `grant_type`.
    ///   - parameters: the grant's parameters; no error shows their values.
    ///   - scopes: nil for the client's.
    /// - Throws: ``OAuthError``.
    public func token(
        grant: String, parameters: ParameterList = [:], scopes: [String]? = nil
    ) async throws(OAuthError) -> OAuthToken {
        try Self.check(parameters, of: "parameters")
        var fields: ParameterList = ["grant_type": grant]
        fields.parameters += parameters.parameters
        fields.parameters += try scope(scopes)
        return try await token(fields, for: "the token")
    }

    /// Sends a token request (RFC 6749 §3.2).
    func token(_ grant: ParameterList, for purpose: String) async throws(OAuthError) -> OAuthToken {
        var fields = grant
        fields.parameters += tokenParameters.parameters
        let endpoint = try await server().tokenEndpoint
        let start = clock.now
        return try OAuthToken(await post(fields, to: endpoint, for: purpose), sentAt: start)
    }

    /// Sends a form with the client's identifier and authentication.
    func post(_ fields: ParameterList, to url: String, for purpose: String) async throws(OAuthError) -> OAuthResponse {
        let client: ClientIdentity =
            switch authentication {
            case .none: .identifier(clientID)
            case .basic(let secret): .basic(clientID, secret)
            case .post(let secret): .form(clientID, secret)
            }
        return try await requests.post(fields, to: url, as: client, for: purpose)
    }

    /// The parameter for the scopes (RFC 6749 §3.3); empty if there are none, so that the server uses its default.
    ///
    /// - Parameter scopes: nil for the client's.
    func scope(_ scopes: [String]?) throws(OAuthError) -> [ParameterList.Parameter] {
        let scopes = scopes ?? self.scopes
        guard !scopes.isEmpty else { return [] }
        for scope in scopes where scope.isEmpty || !scope.utf8.allSatisfy(Self.isScopeByte) {
            throw OAuthError(
                .invalidSetting, "a scope must be visible ASCII without quotes and backslashes; give each scope as one element")
        }
        return [ParameterList.Parameter("scope", scopes.joined(separator: " "))]
    }

    private static func isScopeByte(_ byte: UInt8) -> Bool {
        byte.isVisible && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Refuses parameters that the client sets itself: if a name occurred twice, the server would choose one.
    static func check(_ parameters: ParameterList, of name: String) throws(OAuthError) {
        for parameter in parameters.parameters where ownParameters.contains(parameter.name) {
            throw OAuthError(.invalidSetting, "\(name) can't hold \(parameter.name), which the client sets itself")
        }
    }

    private static let ownParameters: Set<String> = [
        "grant_type", "client_id", "client_secret", "scope", "refresh_token", "code", "code_verifier", "device_code",
        "redirect_uri",
        "response_type", "state", "code_challenge", "code_challenge_method",
    ]
}

extension ParameterList {
    mutating func append(_ name: String, _ value: String) {
        parameters.append(Parameter(name, value))
    }
}

extension OAuthClient {
    /// Tells the server that a token is no longer used, for example at logout (RFC 7009). Revokes the refresh token first,
    /// which ends its grant, and then the access token, for servers that don't end it with the grant. Revokes the access token even
    /// if the server refuses to revoke the refresh token. A token that the server doesn't know is not an error.
    ///
    /// ```swift
    /// if let token = try await storage.load() { try? await client.revoke(token) }
    /// try await storage.clear()
    /// ```
    ///
    /// - Throws: ``OAuthError``; the token may then still be valid.
    public func revoke(_ token: OAuthToken) async throws(OAuthError) {
        guard let endpoint = try await server().revocationEndpoint else {
            throw OAuthError(.invalidSetting, "the server has no revocation endpoint; the token stays valid until it expires")
        }
        var revocation = Revocation(hasRefreshToken: token.refreshToken != nil)
        var failure: OAuthError?
        while let kind = revocation.next {
            let text = kind == .refresh ? token.refreshToken ?? "" : token.accessToken
            do throws(OAuthError) {
                let response = try await post(
                    ["token": text, "token_type_hint": kind.rawValue], to: endpoint, for: "the revocation of the token")
                if !revocation.take(response.endpoint) { failure = failure ?? response.failure }
            } catch {
                throw failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
