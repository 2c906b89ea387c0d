/// The kind of credential that a route needs.
///
/// ```swift
/// extension AuthRequirement {
///     static let partnerKey = AuthRequirement("partner-key")
/// }
/// ```
///
/// The interceptor of a token or a scheme states which requirements it provides (``RequestInterceptor/provides``), and leaves a
/// request alone if its route needs another one. If no interceptor provides a route's requirement, the request fails with an
/// ``UnmetRequirementError`` before it is sent.
public struct AuthRequirement: Sendable, Hashable {
    /// The name, for errors and logs.
    public let name: String

    /// - Parameter name: two requirements with the same name are equal.
    public init(_ name: String) {
        self.name = name
    }

    /// The default of a route: each interceptor decides with its own predicate.
    public static let automatic = AuthRequirement("automatic")
    /// The request carries no credential of a token or a scheme, and waits for none. For logins, registrations and renewals of
    /// tokens. A proxy's credential is still sent.
    public static let none = AuthRequirement("none")
    /// The token of a user's session. An ``AuthenticationInterceptor`` provides it unless its token's type says otherwise.
    public static let bearerToken = AuthRequirement("bearer-token")
    /// An ``APIKeyToken`` or a ``QueryAPIKeyToken``.
    public static let apiKey = AuthRequirement("api-key")
    /// A ``BasicCredential`` (RFC 7617).
    public static let basic = AuthRequirement("basic")
    /// The cookies of a session: a ``CookieToken``.
    public static let sessionCookie = AuthRequirement("session-cookie")
}

extension AuthRequirement: CustomStringConvertible {
    public var description: String { name }
}
