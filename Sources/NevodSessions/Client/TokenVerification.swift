internal import NevodHost
internal import NevodStorage
internal import NevodSupport

/// Verifies a stored session's access token before it is used: once for each token, not for each request.
final class TokenVerification: Sendable {
    private let validator: TokenValidator
    /// The last token that was accepted.
    private let accepted = Locked<String?>(nil)

    init(_ validator: TokenValidator) {
        self.validator = validator
    }

    /// Whether the token is the last one that was accepted.
    func isAccepted(_ accessToken: String) -> Bool { accepted.withLock { $0 == accessToken } }

    /// Like ``verify(_:)``, but waits for an issuer's keys only until the request's deadline.
    func verify(_ accessToken: String, until deadline: ContinuousClock.Instant?) async throws {
        try await SingleFlight<Result<Void, any Error>>().join(until: deadline) {
            do { return .success(try await self.verify(accessToken)) } catch { return .failure(error) }
        }.get()
    }

    /// - Throws: the same errors as ``TokenValidator/validate(_:)``. An expired token is accepted, since it may be renewed.
    func verify(_ accessToken: String) async throws {
        if isAccepted(accessToken) { return }
        _ = try await validator.verify(accessToken)
        accepted.withLock { $0 = accessToken }
    }

    /// Verifies a newly issued token, which must not have expired.
    func verifyNew(_ accessToken: String) async throws {
        try await validator.verifyNew(accessToken)
        accepted.withLock { $0 = accessToken }
    }
}
