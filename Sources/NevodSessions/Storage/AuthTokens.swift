public import Foundation
public import NevodHost

/// The tokens of a user's session: the access token goes on requests, the refresh token renews both.
///
/// As JSON: `{"accessToken": "…", "refreshToken": "…"}`, and optionally `"expiresAt"`, an ISO 8601 date with
/// ``CodingDefaults``.
public struct AuthTokens: TokenModel, Hashable, Redacted {
    /// Sent as `Authorization: Bearer …` (RFC 6750 §2.1).
    public let accessToken: String
    /// Exchanged for new tokens when the access token has expired or was refused.
    public let refreshToken: String
    /// When the access token expires, in whole seconds; nil if it isn't known. It is then renewed when a server refuses it, not
    /// before.
    public let expiresAt: Date?

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
        // Whole seconds, as they are stored, so that stored tokens equal the ones that were saved.
        self.expiresAt = (expiresAt ?? AccessTokenExpiry.date(in: accessToken)).map {
            Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down))
        }
    }

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
}
