public import Foundation
public import NevodHost
public import NevodJWT

/// Asks an authorization server about a token (RFC 7662). (A `JWTVerifier`, in contrast, reads the token itself, and doesn't
/// learn that it was revoked.)
///
/// ```swift
/// let introspection = TokenIntrospection(
///     endpoint: "https://login.example.com/introspect", authentication: .basic(id: "shop", secret: secret))
/// let token = try await introspection.introspect(text)
/// guard token.isActive, token.scopes.contains("orders") else { … }
/// ```
///
/// The token is sent in the body, only over TLS or within this machine, and appears in no log and no error. Redirects aren't
/// followed, and responses aren't cached. A busy server is asked up to 3 times.
public struct TokenIntrospection: Sendable {
    private let endpoint: TokenService

    /// - Parameters:
    ///   - endpoint: the endpoint's URL: https, unless the server is on this machine.
    ///   - authentication: identifies the client.
    ///   - provider: sends the requests.
    ///   - timeout: the limit for all attempts of a request together.
    public init(
        endpoint: some URLRepresentation, authentication: ClientAuthentication,
        provider: NetworkProvider = NetworkProvider(session: CurlSession()), timeout: Duration = .seconds(10)
    ) {
        self.endpoint = TokenService(
            url: endpoint.urlString, authentication: authentication, provider: provider, timeout: timeout)
    }

    /// Returns what the server says about a token. A token unknown to the server is inactive, which isn't an error.
    ///
    /// - Throws: ``TokenServiceError`` if the server refuses to say; `NetworkError` for any other failure.
    public func introspect(_ token: String, hint: TokenTypeHint? = nil) async throws -> IntrospectedToken {
        let reply = try await endpoint.post(token, hint)
        if let failure = reply.failure { throw failure }
        do { return try IntrospectedToken(reply.body) } catch {
            // Leaves out the body, which may repeat the token.
            throw NetworkError.parsingError(error, data: nil, response: nil)
        }
    }
}

/// An introspection endpoint's response about a token (RFC 7662 §2.2).
public struct IntrospectedToken: Sendable, Hashable {
    /// Whether the token is valid now, for the client that asked.
    public let isActive: Bool
    /// All members of the response, including the server's own: `token.members[int: "rate_limit"]`.
    public let members: JWTClaims

    init(_ body: [UInt8]) throws {
        members = try JWTClaims(json: body)
        // RFC 7662 §2.2: required, and a boolean. Anything else must not count as true.
        guard let active = members[boolean: "active"] else { throw MissingStateError() }
        isActive = active
    }

    /// `scope`, split at spaces.
    public var scopes: [String] { members[string: "scope"]?.split(separator: " ").map(String.init) ?? [] }
    /// `client_id`: the client that the token was issued to.
    public var clientID: String? { members[string: "client_id"] }
    /// `username`: the user's name, for people.
    public var username: String? { members[string: "username"] }
    /// `token_type`, such as `Bearer` (RFC 6749 §5.1).
    public var tokenType: String? { members[string: "token_type"] }
    /// `sub`: the user's identifier, for programs.
    public var subject: String? { members.subject }
    /// `aud`: the services that the token is for.
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
    /// Whether the token is active, without the members, which are about a person.
    public var description: String { "IntrospectedToken(\(isActive ? "active" : "not active"))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
