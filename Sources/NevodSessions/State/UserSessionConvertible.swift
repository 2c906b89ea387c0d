/// A server's response to a login or a registration, which has a ``UserSession``.
///
/// ```swift
/// extension AuthResponse: UserSessionConvertible {
///     var userSession: UserSession<User> { UserSession(tokens: tokens, user: user) }
/// }
/// ```
public protocol UserSessionConvertible<User>: Sendable {
    /// The type of the app's user.
    associatedtype User: Codable & Sendable

    /// The tokens and the user.
    var userSession: UserSession<User> { get }
}
