public import Foundation
public import NevodHost
internal import NevodJWT

/// The tokens of a user's session: the access token goes on requests, the refresh token renews both.
///
/// As JSON: `{"accessToken": "…", "refreshToken": "…"}`, and optionally `"expiresAt"`, an ISO 8601 date with
/// ``CodingDefaults``.
///
/// If the access token is a JSON Web Token (RFC 7519), its claims can be read by their types: `tokens[string: "user_id"]`. Nothing
/// vouches for them; see ``toJWT()``.
public struct AuthTokens: TokenModel, Redacted {
    /// Sent as `Authorization: Bearer …` (RFC 6750 §2.1).
    public let accessToken: String
    /// Exchanged for new tokens when the access token has expired or was refused.
    public let refreshToken: String
    /// When the access token expires, in whole seconds; nil if it isn't known. It is then renewed when a server refuses it, not
    /// before.
    public let expiresAt: Date?
    /// Parsed once, since each change of the tokens makes a new value; nil for a token in another form.
    let jwt: JSONWebToken?

    /// Creates tokens.
    ///
    /// - Parameters:
    ///   - accessToken: sent unchanged; a control character fails the request (RFC 9110 §5.5).
    ///   - refreshToken: the token that renews both.
    ///   - expiresAt: when the access token expires; nil to take the claim `exp` of a JSON Web Token (RFC 7519 §4.1.4), which is read
    ///     without verification: it only decides when to renew.
    public init(accessToken: String, refreshToken: String, expiresAt: Date? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        jwt = try? JSONWebToken(accessToken)
        // A later time than any year with four digits can't be stored as a date.
        let claimed =
            if let jwt { jwt.unverifiedClaims.expiresAt.flatMap { $0 <= 9e9 ? Date(timeIntervalSince1970: $0) : nil } } else {
                AccessTokenExpiry.date(in: accessToken)
            }
        // Whole seconds, as they are stored, so that stored tokens equal the ones that were saved.
        self.expiresAt = (expiresAt ?? claimed).map {
            Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down))
        }
    }

    /// Creates tokens under their short names.
    ///
    /// - Parameters:
    ///   - access: the access token.
    ///   - refresh: the token that renews both.
    public init(access: String, refresh: String) {
        self.init(accessToken: access, refreshToken: refresh)
    }

    /// The access token.
    public var access: String { accessToken }
    /// The refresh token.
    public var refresh: String { refreshToken }

    public func authorize(_ request: inout HTTPRequest) throws {
        try request.setHeader("Authorization", "Bearer \(accessToken)")
    }

    public func encode() throws -> [UInt8] {
        let encoder = CodingDefaults.encoder
        // The same bytes each time, by which equal tokens are recognized.
        encoder.outputFormatting = .sortedKeys
        return Array(try encoder.encode(self) as Data)
    }

    public static func decode(from data: [UInt8]) throws -> AuthTokens {
        try CodingDefaults.decoder.decode(AuthTokens.self, from: Data(data))
    }
}

extension AuthTokens: Hashable {
    public static func == (left: AuthTokens, right: AuthTokens) -> Bool {
        left.accessToken == right.accessToken && left.refreshToken == right.refreshToken && left.expiresAt == right.expiresAt
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(accessToken)
        hasher.combine(refreshToken)
        hasher.combine(expiresAt)
    }
}

extension AuthTokens: Codable {
    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, expiresAt
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            accessToken: try values.decode(String.self, forKey: .accessToken),
            refreshToken: try values.decode(String.self, forKey: .refreshToken),
            expiresAt: try values.decodeIfPresent(Date.self, forKey: .expiresAt))
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(accessToken, forKey: .accessToken)
        try values.encode(refreshToken, forKey: .refreshToken)
        try values.encodeIfPresent(expiresAt, forKey: .expiresAt)
    }
}
