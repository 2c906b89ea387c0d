/// Decides what a request waits for before it is sent: a renewal that is under way, or its own if the token is missing or due.
extension AuthenticationInterceptor {
    /// The stored token, after waiting for a renewal that is under way or due.
    func tokenToSend(_ exchange: Exchange) async throws -> StoredToken<Token> {
        guard !coordinator.isRenewedByCurrentTask else { return try await coordinator.read() }
        while coordinator.renewal.isRunning {
            let outcome = try await exchange.yieldingSlot {
                try await RenewalContext.waitForRenewal(of: ObjectIdentifier(coordinator)) {
                    try await coordinator.renewal.outcome(until: exchange.deadline)
                }
            }
            // Waiting would deadlock, so the request carries the stored token.
            guard let outcome else { break }
            if let outcome { try await throwIfFailed(outcome) }
        }
        let stored = try await coordinator.read()
        let isMissing = obtainsFirst && stored.token == nil
        guard isMissing || coordinator.isDue(stored.version) else { return stored }
        try await throwIfFailed(try await renew(stored.version, isRefused: isMissing, exchange, by: strategy(for: exchange)))
        return try await coordinator.read()
    }

    func renew(
        _ version: TokenVersion, isRefused: Bool, _ exchange: Exchange, by strategy: @escaping RefreshStrategy
    ) async throws -> RenewalOutcome {
        try await exchange.yieldingSlot {
            try await RenewalContext.waitForRenewal(of: ObjectIdentifier(coordinator)) {
                try await coordinator.renew(
                    version, isRefused: isRefused, since: began(exchange), until: exchange.deadline, by: strategy, logger)
            } ?? .failed(RenewalCycleError())
        }
    }

    /// Throws if the renewal that this request waited for has failed.
    func throwIfFailed(_ outcome: RenewalOutcome) async throws {
        switch outcome {
        case .replaced, .stillUsable: return
        // The waiting request itself was not refused. It is sent with the stored token, unless it needs one and none is stored.
        case .noReplacement:
            guard obtainsFirst, prepared(nil) == nil, try await coordinator.read().token == nil else { return }
            throw NetworkError.unauthorized
        case .refused(let reason) where coordinator.remembersRefusals: throw NetworkError.authorization(reason)
        case .refused: throw NetworkError.unauthorized
        case .failed(let error): throw NetworkError.authenticationFailed(error)
        }
    }

    /// Renews the stored token if it has expired or is about to, as sending a request would. Requests and other callers share the
    /// renewal, which is never cancelled.
    ///
    /// - Returns: the token that is stored afterwards; nil if none is stored, for example because the server refused the renewal.
    /// - Throws: ``NetworkError/authenticationFailed(_:)`` if an expired token could not be renewed; the token is kept. A failure
    ///   to renew a token that still works isn't thrown. The storage's errors; `CancellationError`.
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
