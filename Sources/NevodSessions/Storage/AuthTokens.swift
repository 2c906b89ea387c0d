public import Foundation
public import NevodHost
public import NevodJWT
internal import NevodSupport

/// The tokens of a user's session: the access token goes on requests, the refresh token renews both.
///
/// As JSON: `{"accessToken": "…", "refreshToken": "…"}`, and optionally `"expiresAt"`, an ISO 8601 date with
/// ``CodingDefaults``.
///
/// If the access token is a JSON Web Token (RFC 7519), its claims can be read by their types: `tokens[string: "user_id"]`. The
/// claims aren't verified; see ``toJWT()``.
public struct AuthTokens: TokenModel, Redacted {
    /// Sent as `Authorization: Bearer …` (RFC 6750 §2.1).
    public let accessToken: String
    /// Exchanged for new tokens after the access token has expired or was refused.
    public let refreshToken: String
    /// When the access token expires, in whole seconds; nil if unknown. A token with an unknown expiry is renewed only after a
    /// server refuses it.
    public let expiresAt: Date?
    /// The access token, parsed once, since these values never change; nil if it isn't a JSON Web Token.
    let jwt: JSONWebToken?

    /// Creates tokens.
    ///
    /// - Parameters:
    ///   - accessToken: sent unchanged; a control character fails the request (RFC 9110 §5.5).
    ///   - refreshToken: the token that renews both.
    ///   - expiresAt: when the access token expires; nil to use the claim `exp` of a JSON Web Token (RFC 7519 §4.1.4). The claim
    ///     isn't verified, since it only decides when to renew.
    public init(accessToken: String, refreshToken: String, expiresAt: Date? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        jwt = try? JSONWebToken(accessToken)
        let claimed =
            if let jwt { jwt.unverifiedClaims.expiresAt } else { AccessTokenExpiry.seconds(in: accessToken) }
        // Rounded to whole seconds, as dates are stored, so that loaded tokens equal the saved ones.
        self.expiresAt = (expiresAt ?? claimed.flatMap(Date.init(numericDate:))).map {
            Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down))
        }
    }

    /// Creates tokens, with shorter labels.
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
        // Keys are sorted so that equal tokens are encoded as equal bytes, which are then compared.
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

/// The access token's claims (RFC 7519 §4), unverified. Nil if the claim is missing or has another type, or if the token isn't a
/// JSON Web Token.
extension AuthTokens {
    /// A string.
    public subscript(string name: String) -> String? { jwt?.unverifiedClaims[string: name] }
    /// A whole number.
    public subscript(int name: String) -> Int? { jwt?.unverifiedClaims[int: name] }
    /// `true` or `false`.
    public subscript(boolean name: String) -> Bool? { jwt?.unverifiedClaims[boolean: name] }
    /// Any number.
    public subscript(double name: String) -> Double? { jwt?.unverifiedClaims[double: name] }
    /// A time, which the token states in seconds since 1970 (RFC 7519 §2, "NumericDate").
    public subscript(date name: String) -> Date? {
        jwt?.unverifiedClaims[time: name].map { Date(timeIntervalSince1970: $0) }
    }
    /// Several strings. A single string is read as an array of one (RFC 7519 §4.1.3).
    public subscript(strings name: String) -> [String]? { jwt?.unverifiedClaims[strings: name] }

    /// Parses the access token as a JSON Web Token, without verification. To decide about access, use a `JWTVerifier`.
    ///
    /// - Throws: `JWTError` if the token isn't a JSON Web Token.
    public func toJWT() throws(JWTError) -> JSONWebToken {
        if let jwt { return jwt }
        return try JSONWebToken(accessToken)
    }

    /// Whether the access token has expired; false if its expiry isn't known.
    ///
    /// - Parameters:
    ///   - leeway: how long before its expiry a token already counts as expired, to leave time for a slow request; negative for a
    ///     server that accepts tokens after they expire.
    ///   - date: the time to compare with.
    public func isExpired(leeway: Duration = .zero, at date: Date = Date()) -> Bool {
        guard let expiresAt else { return false }
        let (seconds, attoseconds) = leeway.components
        return expiresAt.timeIntervalSince(date) - Double(seconds) - Double(attoseconds) * 1e-18 <= 0
    }

    /// The session that these tokens make now.
    public func toSession() -> AuthSession { AuthSession(self) }
}

/// A response that contains a session's tokens, such as a login's.
///
/// ```swift
/// struct LoginSuccess: Decodable, AuthTokensConvertible {
///     let accessToken: String
///     let refreshToken: String
///     var authTokens: AuthTokens { AuthTokens(access: accessToken, refresh: refreshToken) }
/// }
/// ```
public protocol AuthTokensConvertible: Sendable {
    /// The tokens.
    var authTokens: AuthTokens { get }
}

extension AuthTokens: AuthTokensConvertible {
    public var authTokens: AuthTokens { self }
}

/// Reads the expiry of an access token that resembles a JSON Web Token (RFC 7519) but breaks a rule, for example by base64
/// padding. Some servers issue and accept such tokens.
enum AccessTokenExpiry {
    private struct Claims: Decodable {
        let exp: Double?
    }

    /// Returns the claim `exp`, in seconds since 1970; nil if there is none. The token isn't verified: only the server can tell
    /// whether it is genuine, and the date only decides when to renew.
    static func seconds(in token: String) -> Double? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].utf8.count <= 1 << 16, let json = Base64.decoded(Array(parts[1].utf8), .any)
        else { return nil }
        return (try? JSONDecoder().decode(Claims.self, from: Data(json)))?.exp
    }
}
