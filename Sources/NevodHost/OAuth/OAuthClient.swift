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
/// - Requests go to the server's endpoints only, over TLS unless the server is on this machine. Redirects are not followed, and
///   no request is repeated by itself.
/// - Responses are JSON, or forms as some servers send, of at most 1 MiB. One that repeats a name counts as unreadable.
/// - Each failure is an ``OAuthError``. It ends the session only if the server says that the grant is no longer valid.
///
/// Copies share what they know of the server. Tokens bound to a key (RFC 9449, RFC 8705) are not supported.
public struct OAuthClient: Sendable {
    /// How the client shows the server which one it is (RFC 6749 §2.3).
    public enum Authentication: Sendable {
        /// By its identifier alone: a client that can't keep a secret, such as an app (`none`).
        case none
        /// By a secret in the Authorization field (`client_secret_basic`).
        case basic(Secret)
        /// By a secret in the form, for servers that take no other (`client_secret_post`).
        case post(Secret)
    }

    /// The client's identifier at the server (RFC 6749 §2.2).
    public let clientID: String
    /// The scopes that are asked for, unless a call names others (RFC 6749 §3.3).
    public let scopes: [String]
    private let authentication: Authentication
    private let tokenParameters: ParameterList
    private let knowledge: OAuthServerKnowledge
    let requests: OAuthRequests
    let clock: HostClock

    /// Creates a client of a server whose endpoints are known.
    ///
    /// - Parameters:
    ///   - server: the endpoints.
    ///   - clientID: the client's identifier at the server.
    ///   - authentication: how the client shows which one it is.
    ///   - scopes: what a token is to be used for.
    ///   - tokenParameters: more parameters of each token request, such as `audience` or `resource` (RFC 8707).
    ///   - provider: sends the requests. Its interceptors may add header fields; those that hold credentials are left out.
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

    /// Creates a client of a server whose issuer is known. The metadata, which name its endpoints, are read once, before the
    /// first request (``OAuthServer/discover(issuer:provider:timeout:)``).
    ///
    /// - Parameters:
    ///   - issuer: the issuer's identifier, exactly as its metadata name it.
    ///   - clientID: the client's identifier at the server.
    ///   - authentication: how the client shows which one it is.
    ///   - scopes: what a token is to be used for.
    ///   - tokenParameters: more parameters of each token request, such as `audience` or `resource` (RFC 8707).
    ///   - provider: sends the requests. Its interceptors may add header fields; those that hold credentials are left out.
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
            throw OAuthError(.invalidSetting, "the client's secret is empty; a client without one has the authentication none")
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

    /// The server's endpoints, from the metadata if only the issuer was named. Read at the first call; concurrent callers share
    /// one reading, and a failure is not kept.
    ///
    /// - Throws: ``OAuthError``.
    public func server() async throws(OAuthError) -> OAuthServer {
        try await knowledge.server()
    }

    // MARK: Tokens

    /// Renews a token (RFC 6749 §6): the strategy of an ``AuthenticationInterceptor`` or of any other owner of a
    /// ``TokenStorage``, which runs it once for all requests that need it. Called by hand, it must not run twice at a time for
    /// one token: a server that rotates refresh tokens would end the session.
    ///
    /// A server that asks to wait (429 or 503 with `Retry-After`) isn't asked again before, but for at most five minutes; until
    /// then, calls fail with the same error.
    ///
    /// - Parameter old: the token to renew. What the server leaves out of its response is kept: the refresh token, if it isn't
    ///   rotated, and the scope.
    /// - Throws: ``OAuthError``: `loginRequired` without a refresh token, an error that ends the session if the server refused
    ///   the refresh token, and otherwise an error after which the old token remains worth keeping.
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
    /// - Throws: ``OAuthError``. A wait that the server asks for is kept as in ``refresh(_:)``.
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
    ///   - parameters: those of the grant; no error shows their values.
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

    /// Sends a form with what shows the server which client this is (RFC 6749 §2.3.1).
    func post(_ fields: ParameterList, to url: String, for purpose: String) async throws(OAuthError) -> OAuthResponse {
        var fields = fields
        switch authentication {
        case .none: fields.append("client_id", clientID)
        case .post(let secret):
            fields.append("client_id", clientID)
            fields.append("client_secret", Self.text(of: secret))
        case .basic(let secret):
            return try await requests.post(fields, to: url, as: (clientID, Self.text(of: secret)), for: purpose)
        }
        return try await requests.post(fields, to: url, for: purpose)
    }

    private static func text(of secret: Secret) -> String {
        secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The scope's parameter (RFC 6749 §3.3); none without scopes, for the server's default.
    ///
    /// - Parameter scopes: nil for the client's.
    func scope(_ scopes: [String]?) throws(OAuthError) -> [ParameterList.Parameter] {
        let scopes = scopes ?? self.scopes
        guard !scopes.isEmpty else { return [] }
        for scope in scopes where scope.isEmpty || !scope.utf8.allSatisfy(Self.isScopeByte) {
            throw OAuthError(
                .invalidSetting, "a scope is visible ASCII without quotes and backslashes; give each one as an element")
        }
        return [ParameterList.Parameter("scope", scopes.joined(separator: " "))]
    }

    private static func isScopeByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Refuses parameters that the client itself sets: with two of one name, a server would choose.
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

    /// Runs a request that a program makes by itself and would otherwise repeat at once, unless the server has asked to wait.
    private func unlessAskedToWait(
        _ request: () async throws(OAuthError) -> OAuthToken
    ) async throws(OAuthError) -> OAuthToken {
        try knowledge.pause.check()
        do throws(OAuthError) { return try await request() } catch {
            knowledge.pause.begin(after: error)
            throw error
        }
    }
}

extension ParameterList {
    mutating func append(_ name: String, _ value: String) {
        parameters.append(Parameter(name, value))
    }
}
