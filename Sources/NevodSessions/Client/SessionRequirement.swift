internal import NevodHost

/// Fails a request that needs the session's token before it is sent, if it carries none, or one that isn't accepted. Runs after the
/// interceptor that adds it.
struct SessionRequirement: RequestInterceptor {
    let origin: Origin?
    let verification: TokenVerification?

    func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.mayCarryCredentials, exchange.request.origin == origin else { return }
        guard let line = exchange.request.headers.first(where: { $0.name.lowercased() == "authorization" }) else {
            guard exchange.request.route?.auth == .bearerToken else { return }
            throw NetworkError.authorization(SessionError.missing)
        }
        // A credential that the app wrote itself is its own business.
        guard let verification, line.provenance.writesCredentials, line.value.hasPrefix("Bearer ") else { return }
        let token = String(line.value.dropFirst("Bearer ".count))
        guard !verification.isAccepted(token) else { return }
        let deadline = exchange.deadline
        do { try await exchange.yieldingSlot { try await verification.verify(token, until: deadline) } } catch {
            throw error is CancellationError || error is NetworkError ? error : NetworkError.authorization(error)
        }
    }
}
