internal import Foundation
public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension AuthenticationInterceptor {
    /// - Parameter shouldAuthenticate: whether a request is one that the token is meant for.
    public init(
        tokenStorage: TokenStorage<Token>, refreshStrategy: @escaping RefreshStrategy,
        shouldAuthenticate: @escaping @Sendable (URLRequest) -> Bool, logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            tokenStorage: tokenStorage, refreshStrategy: refreshStrategy,
            shouldAuthenticate: { request in shouldAuthenticate(URLRequest(request)) }, logger: logger)
    }
}

extension CookieAuthenticationInterceptor {
    /// - Parameter shouldAuthenticate: whether a request is one that the session is meant for.
    public init(
        cookieStorage: TokenStorage<CookieToken>, loginStrategy: @escaping @Sendable () async throws -> CookieToken,
        shouldAuthenticate: @escaping @Sendable (URLRequest) -> Bool, logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            cookieStorage: cookieStorage, loginStrategy: loginStrategy,
            shouldAuthenticate: { request in shouldAuthenticate(URLRequest(request)) }, logger: logger)
    }
}
