internal import NevodHost

/// Puts the stored access token on requests, and never renews it. (An `AuthenticationInterceptor`, in contrast, does.)
struct StoredTokenInterceptor: RequestInterceptor {
    let tokens: SessionTokens
    let origin: Origin?

    var provides: Set<AuthRequirement> { [.bearerToken] }

    func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.mayCarryCredentials, exchange.request.origin == origin else { return }
        guard let tokens = try await tokens.storage.load() else { throw NetworkError.authorization(SessionError.missing) }
        guard !tokens.isExpired() else { throw NetworkError.authorization(SessionError.expired) }
        try await tokens.authorize(&exchange)
    }
}
