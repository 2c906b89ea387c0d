internal import NevodHost
internal import NevodStorage
internal import NevodSupport

/// Fails a request before it is sent, if it needs the session's token but carries none, or one that isn't accepted. Runs after
/// the interceptor that adds the token.
struct SessionRequirement: RequestInterceptor {
    let origin: Origin?
    let verification: TokenVerification?

    func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.mayCarryCredentials, exchange.request.origin == origin else { return }
        guard let line = exchange.request.headers.first(where: { $0.name.lowercased() == "authorization" }) else {
            guard exchange.request.route?.auth == .bearerToken else { return }
            throw NetworkError.authorization(SessionError.missing)
        }
        // A credential that the app wrote itself isn't verified.
        guard let verification, line.provenance.writesCredentials, line.value.hasPrefix("Bearer ") else { return }
        let token = String(line.value.dropFirst("Bearer ".count))
        guard !verification.isAccepted(token) else { return }
        let deadline = exchange.deadline
        do { try await exchange.yieldingSlot { try await verification.verify(token, until: deadline) } } catch {
            throw error is CancellationError || error is NetworkError ? error : NetworkError.authorization(error)
        }
    }
}

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
