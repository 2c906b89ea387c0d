/// What an OAuth 2.0 token endpoint issues (RFC 6749 §5.1): a bearer token with an end, and what renews it.
///
/// It can be decoded from such an answer: `let token: OAuthToken = try await client.request(.post, path: "/token", …)`.
public struct OAuthToken: TokenModel, Hashable, Redacted {
    /// What goes into `Authorization: Bearer …` (RFC 6750 §2.1).
    public let accessToken: String
    /// What renews the token (RFC 6749 §6); nil: only a login does.
    public let refreshToken: String?
    /// Nil: the server did not say.
    public let expiresAt: UnixTime?
    /// Separated by spaces (RFC 6749 §3.3).
    public let scope: String?

    /// A token that came by another way than the answer of a token endpoint, which can be decoded.
    public init(accessToken: String, refreshToken: String? = nil, expiresAt: UnixTime? = nil, scope: String? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.scope = scope
    }

    public func authorize(_ request: inout HTTPRequest) throws {
        try request.setHeader("Authorization", "Bearer \(accessToken)")
    }

    /// A server that doesn't rotate refresh tokens leaves them out when it renews (RFC 6749 §6): the old one stays.
    public func keepingRefreshToken(of old: OAuthToken) -> OAuthToken {
        guard refreshToken == nil else { return self }
        return OAuthToken(
            accessToken: accessToken, refreshToken: old.refreshToken, expiresAt: expiresAt, scope: scope ?? old.scope)
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
    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
        case tokenType = "token_type"
        case scope
    }

    public init(from decoder: any Decoder) throws {
        let answer = try decoder.container(keyedBy: CodingKeys.self)
        // A type that the client doesn't understand must not be used (§7.1).
        if let type = try answer.decodeIfPresent(String.self, forKey: .tokenType), type.lowercased() != "bearer" {
            throw DecodingError.dataCorruptedError(
                forKey: .tokenType, in: answer, debugDescription: "an OAuthToken is of type Bearer, and no other")
        }
        let lifetime = try answer.decodeIfPresent(Double.self, forKey: .expiresIn)
        self.init(
            accessToken: try answer.decode(String.self, forKey: .accessToken),
            refreshToken: try answer.decodeIfPresent(String.self, forKey: .refreshToken),
            expiresAt: lifetime.map { HostClock.system.now + .seconds(max(0, min($0, 1e9))) },
            scope: try answer.decodeIfPresent(String.self, forKey: .scope))
    }
}
