internal import NevodSupport

/// The code of an error that an OAuth endpoint reports (RFC 6749 §4.1.2.1 and §5.2, RFC 7009 §2.2.1, RFC 8628 §3.5).
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
    /// The user, or the server in the user's place, has denied access.
    public static let accessDenied = OAuthErrorCode(rawValue: "access_denied")
    /// The server failed, and says so in a redirect, which can't have the status 500.
    public static let serverError = OAuthErrorCode(rawValue: "server_error")
    /// The server is overloaded or in maintenance.
    public static let temporarilyUnavailable = OAuthErrorCode(rawValue: "temporarily_unavailable")
    /// The server doesn't revoke tokens of this kind.
    public static let unsupportedTokenType = OAuthErrorCode(rawValue: "unsupported_token_type")
    /// The user hasn't entered the code yet.
    public static let authorizationPending = OAuthErrorCode(rawValue: "authorization_pending")
    /// The device asks too often.
    public static let slowDown = OAuthErrorCode(rawValue: "slow_down")
    /// The user hasn't entered the code in time.
    public static let expiredToken = OAuthErrorCode(rawValue: "expired_token")

    public var description: String { rawValue }

    /// - Parameter status: of the response; nil for a redirect.
    func meaning(status: Int?) -> OAuthErrorMeaning { OAuthErrorMeaning(code: rawValue, status: status) }

    /// The outcome of reading a response.
    enum Reading: Hashable {
        case code(OAuthErrorCode)
        /// The body is no JSON object, or has no code.
        case none
        /// The body is a JSON object with a fault, or with a repeated name, which leaves open which value counts.
        case unreadable
    }

    /// Reads JSON, `{"error": "invalid_grant"}`, or a form, `error=invalid_grant`.
    static func read(from body: [UInt8]) -> Reading {
        let content = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body[3...] : body[...]
        switch content.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "{"): break
        // A page, whose links may look like a form's fields.
        case UInt8(ascii: "<"): return .none
        default:
            return formField("error", of: String(decoding: content, as: UTF8.self)).map { .code(OAuthErrorCode(rawValue: $0)) }
                ?? .none
        }
        // Some servers send Latin-1 in the description, where it does no harm.
        let repaired = Array(String(decoding: body, as: UTF8.self).utf8)
        guard let object = try? JSONValue(response: repaired) else { return .unreadable }
        return object["error"]?.string.map { .code(OAuthErrorCode(rawValue: $0)) } ?? .none
    }

    private static func formField(_ name: String, of text: String) -> String? {
        text.split(separator: "&").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}
