public import Foundation
public import NevodJWT

/// The result of a ``TokenValidator`` for tokens whose signature is valid.
public struct TokenValidation: Sendable, Hashable {
    /// Whether the access token has expired.
    public let isExpired: Bool
    /// When the access token expires (`exp`); nil if it doesn't say.
    public let expiresAt: Date?
    /// The claims of the access token, verified.
    public let claims: JWTClaims
    /// The server's view of the token; nil if it was not asked, since the token has expired or the validator has no introspection.
    public let serverValidation: ServerValidation?

    /// Whether the access token can be used: it has not expired, and the server, if it was asked, calls it active.
    public var isValid: Bool { !isExpired && serverValidation?.isValid != false }
}
