internal import NevodOAuth
internal import NevodSupport

/// The reason that an OAuth server did not issue or revoke a token.
///
/// ``isTransient`` is true if a retry may succeed. Otherwise a setting has to change, or the user has to log in. A renewal by an
/// ``AuthenticationInterceptor`` clears the stored token only if ``endsSession`` is true.
///
/// The description names the server's origin and the way out. It never contains a token, code, password or client secret. It
/// quotes the beginning of the server's message as printable ASCII, unless that repeats a secret.
public struct OAuthError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// A URL or another value from the program is invalid, or the server has no endpoint for the request. Nothing was sent.
        case invalidSetting
        /// The issuer's metadata is missing, belongs to another issuer, names endpoints that can't be trusted (RFC 8414 §3.3 and
        /// §6), or lists no secure PKCE method (RFC 7636 §4.2). PKCE matters only to logins with a browser.
        case invalidMetadata
        /// The address that the browser was redirected to doesn't belong to this login: its path, registered query, `state` (RFC
        /// 6749 §10.12) or `iss` (RFC 9207 §2.4) differs, or it has no code.
        case invalidRedirect
        /// There is no refresh token. Only a login helps.
        case loginRequired
        /// The server refused, for the reason in ``OAuthError/serverCode``.
        case refused
        /// The server can't be reached, is overloaded, or sent something that isn't an OAuth response, such as an HTML page. A
        /// later attempt may succeed.
        case unavailable
        /// The server issued a token of a type that this library doesn't support, which must not be used (RFC 6749 §7.1).
        case unsupportedToken
        /// The task was cancelled. Whether the server acted on the request is unknown.
        case cancelled
    }

    /// The kind of failure.
    public let code: Code
    /// The server's own code; nil if it sent none.
    public let serverCode: OAuthErrorCode?
    /// The status of the response; nil without a response.
    public let status: Int?
    /// The wait that the server asks for (RFC 9110 §10.2.3); nil if it doesn't say.
    public let retryAfter: Duration?
    /// The error of the request; nil if there was a response.
    public let underlying: NetworkError?
    private let problem: String

    /// - Parameter problem: names the culprit and the way out; must not contain a secret.
    init(
        _ code: Code, _ problem: String, serverCode: OAuthErrorCode? = nil, status: Int? = nil, retryAfter: Duration? = nil,
        underlying: NetworkError? = nil
    ) {
        self.code = code
        self.problem = problem
        self.serverCode = serverCode
        self.status = status
        self.retryAfter = retryAfter
        self.underlying = underlying
    }

    /// Whether the same request may succeed later. True if there was no connection, if the status is 408, 425, 429 or 5xx, if the
    /// code is `temporarily_unavailable`, `server_error`, `slow_down` or a vendor's equivalent, and if the response isn't an
    /// OAuth response.
    public var isTransient: Bool { code == .unavailable }

    /// Whether the server said that the grant is no longer valid, for example with `invalid_grant`. The stored token is then
    /// useless. False for `invalid_client`, and for `access_denied` with status 401: they mean that the client's own credential
    /// is wrong.
    public var endsSession: Bool { code == .refused && serverCode?.meaning(status: status) == .refusal }

    public var description: String { problem }
}

/// An error code that an OAuth endpoint reports (RFC 6749 §4.1.2.1 and §5.2, RFC 7009 §2.2.1, RFC 8628 §3.5).
public struct OAuthErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The server's text, such as `invalid_grant`.
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A parameter is missing, invalid, or occurs twice.
    public static let invalidRequest = OAuthErrorCode(rawValue: "invalid_request")
    /// The server doesn't know the client, or its credential is wrong.
    public static let invalidClient = OAuthErrorCode(rawValue: "invalid_client")
    /// The authorization code or the refresh token is no longer valid.
    public static let invalidGrant = OAuthErrorCode(rawValue: "invalid_grant")
    /// The client may not use this grant.
    public static let unauthorizedClient = OAuthErrorCode(rawValue: "unauthorized_client")
    /// The server doesn't offer this grant.
    public static let unsupportedGrantType = OAuthErrorCode(rawValue: "unsupported_grant_type")
    /// The scope is unknown, or exceeds what was granted.
    public static let invalidScope = OAuthErrorCode(rawValue: "invalid_scope")
    /// The user, or the server on the user's behalf, denied access.
    public static let accessDenied = OAuthErrorCode(rawValue: "access_denied")
    /// The server failed. It says so in a redirect, which can't have status 500.
    public static let serverError = OAuthErrorCode(rawValue: "server_error")
    /// The server is overloaded or in maintenance.
    public static let temporarilyUnavailable = OAuthErrorCode(rawValue: "temporarily_unavailable")
    /// The server doesn't revoke tokens of this kind.
    public static let unsupportedTokenType = OAuthErrorCode(rawValue: "unsupported_token_type")
    /// The user hasn't entered the code yet.
    public static let authorizationPending = OAuthErrorCode(rawValue: "authorization_pending")
    /// The device polls too often.
    public static let slowDown = OAuthErrorCode(rawValue: "slow_down")
    /// The user hasn't entered the code in time.
    public static let expiredToken = OAuthErrorCode(rawValue: "expired_token")

    public var description: String { rawValue }

    /// - Parameter status: the response's status; nil for a redirect.
    func meaning(status: Int?) -> OAuthErrorMeaning { OAuthErrorMeaning(code: rawValue, status: status) }

    /// Nil for a text that no server may send, or that no error should show.
    ///
    /// - Parameter secrets: values in the request. A text that repeats one of them is refused, unless it is a known code.
    init?(received text: String, hiding secrets: [Secret]) {
        guard let code = ServerWords.code(text, hiding: secrets) else { return nil }
        self.init(rawValue: code)
    }

    /// The outcome of reading a response.
    enum Reading: Hashable {
        case code(OAuthErrorCode)
        /// The body has no code, or is neither a JSON object nor a form.
        case none
        /// The body is malformed or repeats a name, so that the code is ambiguous.
        case unreadable
    }

    /// Reads JSON, `{"error": "invalid_grant"}`, or a form, `error=invalid_grant`.
    static func read(from body: [UInt8]) -> Reading {
        let body = body.withUnsafeBytes { EndpointBody($0) }
        if case .unreadable = body { return .unreadable }
        guard let code = body.error, !code.isEmpty else { return .none }
        return .code(OAuthErrorCode(rawValue: code))
    }
}
