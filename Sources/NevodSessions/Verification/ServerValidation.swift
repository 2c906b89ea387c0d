/// An authorization server's view of an access token (RFC 7662).
public struct ServerValidation: Sendable, Hashable {
    /// The response, with the members of the server's own: `response.members[int: "rate_limit"]`.
    public let response: IntrospectedToken

    /// Whether the token is active: neither expired nor revoked.
    public var isValid: Bool { response.isActive }
    /// The permissions of the token: its scopes (RFC 6749 §3.3).
    public var permissions: [String] { response.scopes }

    init(_ response: IntrospectedToken) {
        self.response = response
    }
}
