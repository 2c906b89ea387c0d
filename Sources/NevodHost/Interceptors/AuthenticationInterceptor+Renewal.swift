extension AuthenticationInterceptor {
    /// Renews the stored token as a request would, without a request: if it has expired or is about to. Requests and other callers
    /// share the renewal, which is never cancelled.
    ///
    /// - Returns: the token that is then stored; nil if none is, as after the server has refused the renewal.
    /// - Throws: ``NetworkError/authenticationFailed(_:)`` if an expired token could not be renewed; it is kept. A failure to renew
    ///   one that still works is no error. Also the storage's errors, and `CancellationError`.
    public func renewIfDue() async throws -> Token? {
        let stored = try await coordinator.read()
        guard let token = stored.token, !coordinator.isRenewedByCurrentTask,
            coordinator.isDue(stored.version) || coordinator.isExpired(token)
        else { return stored.token }
        let outcome = try await RenewalContext.waitForRenewal(of: ObjectIdentifier(coordinator)) {
            try await coordinator.renew(stored.version, isRefused: false, until: nil, by: refreshStrategy, logger)
        }
        switch outcome {
        case .failed(let error): throw NetworkError.authenticationFailed(error)
        case nil: throw NetworkError.authenticationFailed(RenewalCycleError())
        case .replaced, .stillUsable, .noReplacement, .refused: return try await coordinator.read().token
        }
    }
}
