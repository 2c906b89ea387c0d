/// The kind of a token, as a hint for the server's search (RFC 7009 §2.1). A server may ignore it.
public struct TokenTypeHint: RawRepresentable, Sendable, Hashable {
    /// The text that is sent.
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// `access_token`.
    public static let accessToken = TokenTypeHint(rawValue: "access_token")
    /// `refresh_token`.
    public static let refreshToken = TokenTypeHint(rawValue: "refresh_token")
}
