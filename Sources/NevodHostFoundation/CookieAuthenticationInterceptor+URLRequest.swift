public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension CookieAuthenticationInterceptor {
    /// Creates an interceptor whose predicate takes a `URLRequest`.
    ///
    /// - Parameters:
    ///   - shouldAuthenticate: returns whether a request may carry the session's cookies.
    ///   - provides: the requirements of routes that the session meets.
    public init(
        cookieStorage: TokenStorage<CookieToken>, loginStrategy: @escaping @Sendable () async throws -> CookieToken,
        shouldAuthenticate: @escaping @Sendable (URLRequest) -> Bool,
        provides: Set<AuthRequirement> = [CookieToken.requirement], logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            cookieStorage: cookieStorage, loginStrategy: loginStrategy,
            shouldAuthenticate: { request in shouldAuthenticate(URLRequest(request)) }, provides: provides, logger: logger)
    }

    /// Creates an interceptor for a server that doesn't signal the expiry of a session with status 401.
    ///
    /// - Parameters:
    ///   - shouldAuthenticate: returns whether a request may carry the session's cookies.
    ///   - isSessionOver: returns whether a response means that the session has expired. Called before a redirect is followed.
    ///   - provides: the requirements of routes that the session meets.
    public init(
        cookieStorage: TokenStorage<CookieToken>, loginStrategy: @escaping @Sendable () async throws -> CookieToken,
        shouldAuthenticate: @escaping @Sendable (URLRequest) -> Bool,
        isSessionOver: @escaping @Sendable (HTTPResponse) -> Bool,
        provides: Set<AuthRequirement> = [CookieToken.requirement], logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            cookieStorage: cookieStorage, loginStrategy: loginStrategy,
            shouldAuthenticate: { request in shouldAuthenticate(URLRequest(request)) }, isSessionOver: isSessionOver,
            provides: provides, logger: logger)
    }
}
