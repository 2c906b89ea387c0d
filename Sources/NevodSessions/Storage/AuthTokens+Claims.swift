public import Foundation
public import NevodJWT

/// The claims of the access token (RFC 7519 §4), as it says, without verification. Nil for a claim that is missing or has another
/// type, and for a token that isn't a JSON Web Token.
extension AuthTokens {
    /// A text.
    public subscript(string name: String) -> String? { jwt?.unverifiedClaims[string: name] }
    /// A whole number.
    public subscript(int name: String) -> Int? { jwt?.unverifiedClaims[int: name] }
    /// `true` or `false`.
    public subscript(boolean name: String) -> Bool? { jwt?.unverifiedClaims[boolean: name] }
    /// Any number.
    public subscript(double name: String) -> Double? { jwt?.unverifiedClaims[double: name] }
    /// A time, which the token has in seconds since 1970 (RFC 7519 §2, "NumericDate").
    public subscript(date name: String) -> Date? {
        jwt?.unverifiedClaims[time: name].map { Date(timeIntervalSince1970: $0) }
    }
    /// Several texts. One text is an array of one (RFC 7519 §4.1.3).
    public subscript(strings name: String) -> [String]? { jwt?.unverifiedClaims[strings: name] }

    /// Parses the access token as a JSON Web Token, without verification: see `JWTVerifier` for what decides about access.
    ///
    /// - Throws: `JWTError` for a token in another form.
    public func toJWT() throws(JWTError) -> JSONWebToken {
        if let jwt { return jwt }
        return try JSONWebToken(accessToken)
    }

    /// Whether the access token has expired. A token whose expiry isn't known has not.
    ///
    /// - Parameters:
    ///   - leeway: how long before its expiry a token counts as expired, as for a request that takes a while; negative for a server
    ///     that accepts it for longer.
    ///   - date: the time to compare with.
    public func isExpired(leeway: Duration = .zero, at date: Date = Date()) -> Bool {
        guard let expiresAt else { return false }
        let (seconds, attoseconds) = leeway.components
        return expiresAt.timeIntervalSince(date) - Double(seconds) - Double(attoseconds) * 1e-18 <= 0
    }

    /// The session of these tokens, now.
    public func toSession() -> AuthSession { AuthSession(self) }
}
