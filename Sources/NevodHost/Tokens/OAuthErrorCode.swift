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

    /// Reads JSON, `{"error": "invalid_grant"}`, or a form, `error=invalid_grant`; nil if the body has neither, or repeats a member,
    /// which leaves open which value counts.
    init?(inBody body: [UInt8]) {
        let member = (try? JSONValue(parsing: body.span, repeatedNames: .refused))?["error"]?.string
        guard let value = member ?? Self.formField("error", of: String(decoding: body, as: UTF8.self)) else { return nil }
        rawValue = value
    }

    private static func formField(_ name: String, of text: String) -> String? {
        text.split(separator: "&").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}
