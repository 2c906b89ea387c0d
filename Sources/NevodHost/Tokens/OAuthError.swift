internal import NevodSupport

/// Why an OAuth server issued or revoked no token.
///
/// ``isTransient`` tells what may succeed later from what needs a change: another setting, or a login. A renewal by an
/// ``AuthenticationInterceptor`` clears the stored token only if ``endsSession`` is true.
///
/// The text names the server's origin and the way out. It holds no token, code, password or secret of the client; what the
/// server said is shown in part, as printable ASCII, and left out where it repeats a secret.
public struct OAuthError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// A URL or another value of the program's can't be used, or the server has no endpoint for the request. Nothing was
        /// sent.
        case invalidSetting
        /// The issuer's metadata are missing, another issuer's, name endpoints that can't be trusted (RFC 8414 §3.3 and §6), or list
        /// no method of PKCE that is secure (RFC 7636 §4.2), which matters to logins with a browser alone.
        case invalidMetadata
        /// The address that a browser was redirected to doesn't belong to the login: it has another path or query of its own, another
        /// `state` (RFC 6749 §10.12) or another `iss` (RFC 9207 §2.4), or no code.
        case invalidRedirect
        /// There is no refresh token. Only a login helps.
        case loginRequired
        /// The server refused, for the reason in ``OAuthError/serverCode``.
        case refused
        /// The server can't be reached, is overloaded, or sent something that is no response of OAuth, such as an HTML page. A
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

    /// Whether the same request may succeed later: without a connection, with a status of 429 or 5xx, with
    /// `temporarily_unavailable`, `server_error`, `slow_down` or a vendor's word for them, and with a response that isn't one of
    /// OAuth.
    public var isTransient: Bool { code == .unavailable }

    /// Whether the server said that the grant is no longer valid, as by `invalid_grant`: the stored token has no further use.
    /// False for `invalid_client`, and for `access_denied` with the status 401: the client's own credential is wrong.
    public var endsSession: Bool { code == .refused && serverCode?.meaning(status: status) == .refusal }

    public var description: String { problem }
}
