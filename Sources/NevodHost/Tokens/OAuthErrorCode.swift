internal import NevodSupport

/// The `error` field of a token endpoint's response (RFC 6749 §5.2).
struct OAuthErrorCode: Hashable {
    let rawValue: String

    static let invalidClient = OAuthErrorCode("invalid_client")

    /// The codes which say that the grant itself is no longer valid. (`bad_refresh_token` is GitHub's, `expired_token` is from
    /// RFC 8628, `token_expired` and `token_revoked` are Slack's.)
    static let refusals: Set<OAuthErrorCode> = Set(
        ["invalid_grant", "bad_refresh_token", "expired_token", "token_expired", "token_revoked", "access_denied"]
            .map(OAuthErrorCode.init))

    private init(_ rawValue: String) {
        self.rawValue = rawValue
    }

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
        guard content.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
            return formField("error", of: String(decoding: content, as: UTF8.self)).map { .code(OAuthErrorCode($0)) } ?? .none
        }
        // Some servers send Latin-1 in the description, where it does no harm.
        let repaired = Array(String(decoding: body, as: UTF8.self).utf8)
        guard let object = try? JSONValue(response: repaired) else { return .unreadable }
        return object["error"]?.string.map { .code(OAuthErrorCode($0)) } ?? .none
    }

    private static func formField(_ name: String, of text: String) -> String? {
        text.split(separator: "&").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}
