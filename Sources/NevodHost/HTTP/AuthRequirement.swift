/// The kind of credential that a route needs.
///
/// ```swift
/// extension AuthRequirement {
///     static let partnerKey = AuthRequirement("partner-key")
/// }
/// ```
///
/// An interceptor of a token or a scheme says which ones it provides (``RequestInterceptor/provides``), and leaves all requests
/// alone whose route needs another one. A request whose requirement no interceptor provides fails before it is sent, with an
/// ``UnmetRequirementError``.
public struct AuthRequirement: Sendable, Hashable {
    /// The name, for errors and logs.
    public let name: String

    /// - Parameter name: two requirements with the same name are equal.
    public init(_ name: String) {
        self.name = name
    }

    /// The interceptors decide by themselves, each with its own predicate: the default of a route.
    public static let automatic = AuthRequirement("automatic")
    /// No credential of a token or a scheme, not even a wait for one: what a login, a registration and a token's renewal need. A
    /// proxy's credential is sent all the same.
    public static let none = AuthRequirement("none")
    /// The token of a user's session: what an ``AuthenticationInterceptor`` provides if its token's type says nothing else.
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
