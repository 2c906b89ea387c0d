internal import NevodOAuth
internal import NevodSupport

/// A bearer token with an expiry and a refresh token, as issued by an OAuth 2.0 token endpoint (RFC 6749 §5.1).
///
/// Decode it from the endpoint's response: `let token: OAuthToken = try await client.request(.post, path: "/token", …)`. Decoding
/// accepts the variants that servers send: a lifetime as a string, scopes as an array, an empty refresh token instead of a
/// missing one.
public struct OAuthToken: TokenModel, Hashable, Redacted {
    /// Sent as `Authorization: Bearer …` (RFC 6750 §2.1).
    public let accessToken: String
    /// Used to renew the token (RFC 6749 §6). If nil, only a login can replace the token.
    public let refreshToken: String?
    /// Nil if the server did not say, or said zero, as some do for a token that doesn't expire.
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

    /// Returns this token, with the old token's refresh token and scope where it has none. A server that doesn't rotate refresh
    /// tokens omits the refresh token when it renews a token, and any server may omit a scope that hasn't changed (RFC 6749 §5.1,
    /// §6).
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
    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
        case scope, ok
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? members.decode(String.self, forKey: key) }
        do throws(TokenResponse.Fault) {
            let response = try TokenResponse(
                accessToken: text(.accessToken), type: text(.tokenType), refreshToken: text(.refreshToken),
                lifetime: (try? members.decode(Double.self, forKey: .expiresIn))
                    ?? text(.expiresIn).flatMap { Int64($0).map(Double.init) },
                scopes: text(.scope).map { [$0] } ?? (try? members.decode([String].self, forKey: .scope)),
                isFromSlack: (try? members.decode(Bool.self, forKey: .ok)) == true)
            try self.init(response, at: HostClock.system.now)
        } catch {
            switch error {
            case .noAccessToken:
                throw DecodingError.dataCorruptedError(
                    forKey: .accessToken, in: members, debugDescription: "the response has no valid access_token")
            case .otherType:
                throw DecodingError.dataCorruptedError(
                    forKey: .tokenType, in: members,
                    debugDescription: "the token_type is not Bearer, the only type that OAuthToken supports")
            }
        }
    }
}

extension OAuthToken {
    /// - Parameter time: the start of the lifetime.
    init(_ response: TokenResponse, at time: UnixTime) throws(TokenResponse.Fault) {
        guard response.type == .bearer else { throw .otherType }
        self.init(
            accessToken: response.accessToken, refreshToken: response.refreshToken,
            expiresAt: response.lifetime.map { time + .seconds($0) }, scope: response.scope)
    }
}
