/// A bearer token with an expiry and a refresh token, as an OAuth 2.0 token endpoint issues it (RFC 6749 §5.1).
///
/// It can be decoded from the endpoint's response:
/// `let token: OAuthToken = try await client.request(.post, path: "/token", …)`. Decoding reads the forms that servers send: a
/// lifetime as a string, scopes as an array, an empty refresh token for none.
public struct OAuthToken: TokenModel, Hashable, Redacted {
    /// Sent as `Authorization: Bearer …` (RFC 6750 §2.1).
    public let accessToken: String
    /// Used to renew the token (RFC 6749 §6). If nil, only a login can replace the token.
    public let refreshToken: String?
    /// Nil if the server did not say.
    public let expiresAt: UnixTime?
    /// The granted scopes, separated by spaces (RFC 6749 §3.3); nil if the server did not say.
    public let scope: String?

    /// Creates a token that was not decoded from a token endpoint's response.
    public init(accessToken: String, refreshToken: String? = nil, expiresAt: UnixTime? = nil, scope: String? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.scope = scope
    }

    public func authorize(_ request: inout HTTPRequest) throws {
        try request.setHeader("Authorization", "Bearer \(accessToken)")
    }

    /// Returns this token with the refresh token and scope of the old one where it has none of its own: a server that doesn't
    /// rotate refresh tokens leaves them out of its response to a renewal, and any server may leave out a scope that hasn't
    /// changed (RFC 6749 §5.1, §6).
    public func keepingRefreshToken(of old: OAuthToken) -> OAuthToken {
        OAuthToken(
            accessToken: accessToken, refreshToken: refreshToken ?? old.refreshToken, expiresAt: expiresAt,
            scope: scope ?? old.scope)
    }

    public func encode() throws -> [UInt8] {
        TokenFields([
            "access_token": accessToken, "refresh_token": refreshToken, "expires_at": expiresAt.map { String($0.nanoseconds) },
            "scope": scope,
        ]).encoded
    }

    public static func decode(from data: [UInt8]) throws -> OAuthToken {
        let fields = TokenFields(data)
        return OAuthToken(
            accessToken: try fields.value("access_token"), refreshToken: fields["refresh_token"],
            expiresAt: fields["expires_at"].flatMap(Int64.init).map(UnixTime.init(nanoseconds:)), scope: fields["scope"])
    }
}

extension OAuthToken: Decodable {
    public init(from decoder: any Decoder) throws {
        try self.init(OAuthTokenResponse(from: decoder), at: HostClock.system.now)
    }
}
