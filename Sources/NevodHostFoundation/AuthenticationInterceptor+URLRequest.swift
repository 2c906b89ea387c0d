internal import Foundation
public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension AuthenticationInterceptor {
    /// Creates an interceptor whose predicate takes a `URLRequest`.
    ///
    /// - Parameters:
    ///   - shouldAuthenticate: returns whether a request may carry the token.
    ///   - provides: the requirements of routes that the token meets.
    public init(
        tokenStorage: TokenStorage<Token>, refreshStrategy: @escaping RefreshStrategy,
        shouldAuthenticate: @escaping @Sendable (URLRequest) -> Bool,
        provides: Set<AuthRequirement> = [Token.requirement], logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            tokenStorage: tokenStorage, refreshStrategy: refreshStrategy,
            shouldAuthenticate: { request in shouldAuthenticate(URLRequest(request)) }, provides: provides, logger: logger)
    }
}
