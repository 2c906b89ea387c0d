/// A response that has the tokens of a session, such as that of a login.
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
