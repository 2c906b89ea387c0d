public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension CookieAuthenticationInterceptor {
    /// The same for a server that shows the end of a session in its own way.
    ///
    /// - Parameters:
    ///   - shouldAuthenticate: whether a request is one that the session is meant for.
    ///   - isSessionOver: whether an answer says so; asked before a redirect is followed.
    public init(
        cookieStorage: TokenStorage<CookieToken>, loginStrategy: @escaping @Sendable () async throws -> CookieToken,
        shouldAuthenticate: @escaping @Sendable (URLRequest) -> Bool,
        isSessionOver: @escaping @Sendable (HTTPResponse) -> Bool, logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            cookieStorage: cookieStorage, loginStrategy: loginStrategy,
            shouldAuthenticate: { request in shouldAuthenticate(URLRequest(request)) }, isSessionOver: isSessionOver,
            logger: logger)
    }
}
