public import Foundation
internal import NevodHost
public import NevodJWT

/// The response of an introspection endpoint about a token (RFC 7662 §2.2).
public struct IntrospectedToken: Sendable, Hashable {
    /// Whether the token is valid now, for the client that asked.
    public let isActive: Bool
    /// All members of the response, also those of the server's own: `token.members[int: "rate_limit"]`.
    public let members: JWTClaims

    init(_ body: [UInt8]) throws {
        members = try JWTClaims(json: body)
        // RFC 7662 §2.2: required, and a boolean. Anything else must not count as true.
        guard let active = members[boolean: "active"] else { throw MissingStateError() }
        isActive = active
    }

    /// `scope`, by space.
    public var scopes: [String] { members[string: "scope"]?.split(separator: " ").map(String.init) ?? [] }
    /// `client_id`: the client that the token was issued to.
    public var clientID: String? { members[string: "client_id"] }
    /// `username`: the user, as a person may read it.
    public var username: String? { members[string: "username"] }
    /// `token_type`, such as `Bearer` (RFC 6749 §5.1).
    public var tokenType: String? { members[string: "token_type"] }
    /// `sub`: the user, as a program may compare it.
    public var subject: String? { members.subject }
    /// `aud`: for which services the token is.
    public var audience: [String] { members.audience }
    /// `iss`: the server that issued the token.
    public var issuer: String? { members.issuer }
    /// `jti`: the token's identifier.
    public var id: String? { members.id }
    /// `exp`: when the token expires.
    public var expiresAt: Date? { members.expiresAt.map(Date.init(timeIntervalSince1970:)) }
    /// `iat`: when the token was issued.
    public var issuedAt: Date? { members.issuedAt.map(Date.init(timeIntervalSince1970:)) }
    /// `nbf`: before this time, the token is not valid yet.
    public var notBefore: Date? { members.notBefore.map(Date.init(timeIntervalSince1970:)) }

    private struct MissingStateError: Error, CustomStringConvertible {
        var description: String { "its member \"active\" is missing, or is neither true nor false (RFC 7662 §2.2)" }
    }
}

extension IntrospectedToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Whether the token is active. The members are about a person.
    public var description: String { "IntrospectedToken(\(isActive ? "active" : "not active"))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
