internal import NevodSupport

extension TokenCoordinator {
    /// Obtains a token to replace the one of `version`. Concurrent callers share one renewal. If another token is stored
    /// already, none takes place.
    ///
    /// - Parameters:
    ///   - isRefused: true if the server has refused the token; false if it is only due for renewal before expiry.
    ///   - began: when the request that needs it began; nil if none does. A refusal since then counts for the request.
    func renew(
        _ version: TokenVersion, isRefused: Bool, since began: ContinuousClock.Instant? = nil,
        until deadline: ContinuousClock.Instant?,
        by strategy: @escaping @Sendable (Token?) async throws -> Token, _ logger: (any NetworkLogger)? = nil
    ) async throws -> RenewalOutcome {
        try await renewal.join(until: deadline) {
            if let began, let past = await self.refusal(for: version, since: began) { return past }
            let outcome = await self.exchange(version, isRefused, strategy)
            self.remember(outcome)
            self.report(outcome, to: logger)
            return outcome
        }
    }

    private func report(_ outcome: RenewalOutcome, to logger: (any NetworkLogger)?) {
        let what = "the token of type \(Token.self)"
        switch outcome {
        case .replaced where hasUnsaved:
            logger?.error("\(what) was renewed but could not be saved; it is kept in memory")
        case .replaced: logger?.info("\(what) was replaced")
        case .stillUsable: logger?.notice("\(what) was not renewed before expiry; still in use")
        case .noReplacement: logger?.notice("\(what) was refused, and no other token is available")
        case .refused(let reason):
            logger?.warning(
                "\(what) can no longer be renewed and was cleared; log in again", ["error": "\(reason)", "event": "refused"])
        case .failed(let error):
            logger?.warning("\(what) could not be renewed; the stored token is kept", ["error": "\(error)"])
        }
    }

    /// Whether the current task runs as part of a renewal of this token.
    var isRenewedByCurrentTask: Bool { RenewalContext.renewal(of: ObjectIdentifier(self)) != nil }

    private func exchange(
        _ version: TokenVersion, _ isRefused: Bool, _ strategy: @escaping @Sendable (Token?) async throws -> Token
    ) async -> RenewalOutcome {
        do {
            // A renewal that another process has taken over is followed by a wait for that process.
            for _ in 0..<3 {
                guard try await read().version == version else { return outcomeElsewhere(of: version) }
                if let outcome = try await exchangeUnderLock(version, isRefused, strategy) { return outcome }
            }
            throw StorageError(.busy, "\(key)", problem: "its renewal keeps being taken over by others", remedy: "try again")
        } catch {
            // The server has not refused the token, so a renewal lock that can't be taken is no reason to stop using it.
            if !isRefused, let stored = try? await read(), stored.version == version {
                delayEarlyRenewal(of: version)
                if !isExpired(stored.token) { return .stillUsable }
            }
            return .failed(error)
        }
    }

    /// - Returns: nil if another process has taken the lock over before anything was sent.
    private func exchangeUnderLock(
        _ version: TokenVersion, _ isRefused: Bool, _ strategy: @escaping @Sendable (Token?) async throws -> Token
    ) async throws -> RenewalOutcome? {
        let note = storedBytes(of: version) == nil ? await loginNote() : nil
        return try await withRenewalLock { releaseLock in
            // The previous holder of the lock may have renewed the token.
            let stored = try await read()
            guard stored.version == version else { return outcomeElsewhere(of: version) }
            if stored.token == nil, let outcome = await refusedLogin(notedSince: note) { return outcome }
            let renewal = Renewal(
                of: ObjectIdentifier(self), stored.version, isEarly: !isRefused && !isExpired(stored.token),
                releaseLock: releaseLock,
                confirmLock: { try await self.confirmRenewalLock() })
            let outcome = try await outcome(of: strategy, stored, renewal)
            switch outcome {
            case .failed where renewal.isStopped: return nil
            case .noReplacement where !isRefused:
                stopEarlyRenewal(of: version)
                return .stillUsable
            case .failed where !isRefused:
                delayEarlyRenewal(of: version)
                return isExpired(stored.token) ? outcome : .stillUsable
            default: return outcome
            }
        }
    }

    private func outcome(
        of strategy: @Sendable (Token?) async throws -> Token, _ stored: StoredToken<Token>, _ renewal: Renewal
    ) async throws -> RenewalOutcome {
        let token: Token
        defer { renewal.finish() }
        do {
            try await renewal.willSend(isSafe: true)
            token = try await RenewalContext.$renewals.withValue(RenewalContext.renewals + [renewal]) {
                try await strategy(stored.token)
            }
        } catch NetworkError.unauthorized(_, response: nil) {
            return .noReplacement
        } catch let error as OAuthError where error.code == .loginRequired {
            return .noReplacement
        } catch is RenewalSupersededError {
            return .replaced
        } catch  where refusesGrant(error) {
            await record(error, of: storedBytes(of: renewal.base))
            // Cleared only if the same token is still stored: a login may have replaced it meanwhile.
            return try await replace(renewal.base, with: nil, .refusal(error)) ? .refused(error) : .replaced
        } catch {
            // There is no token to clear, and others may wait with the same password.
            if stored.token == nil, (error as? PluginError)?.status == .denied { await recordLogin(error) }
            return .failed(error)
        }
        return try await install(token, instead: stored, base: renewal.base)
    }

    private func install(
        _ token: Token, instead old: StoredToken<Token>, base: TokenVersion
    ) async throws -> RenewalOutcome {
        guard try await !isSame(token, old.token) else { return .noReplacement }
        // A login or logout during the renewal takes precedence, and the new token is dropped.
        _ = try await adopt(token, replacing: base)
        ignoreExpiryIfPassed()
        return .replaced
    }

    /// Saves a token that a server has issued in place of the one of `version`, or keeps it in memory if it can't be saved now.
    ///
    /// - Returns: false if the token is only in memory.
    func adopt(_ token: Token, replacing version: TokenVersion) async throws -> Bool {
        do {
            _ = try await replace(version, with: token, .renewal)
            return true
        } catch {
            try keepInMemory(token, replacing: version)
            return false
        }
    }

    /// Saves a token in the middle of a renewal: a server that rotates tokens has invalidated the stored one already. Outside a
    /// renewal, as during a login, replaces whatever is stored.
    func keep(_ token: Token) async throws {
        guard let renewal = RenewalContext.renewal(of: ObjectIdentifier(self)) else { return try await write(token) }
        guard try await replace(renewal.base, with: token, .renewal) else { throw RenewalSupersededError() }
        renewal.base = try await read().version
    }

    /// Whether a renewed token equals the old one. Two encodings of one token may differ in the order of their parts, since
    /// dictionaries have no order. So tokens whose bytes are a permutation of each other are equal if they write
    /// the same request.
    private func isSame(_ token: Token, _ other: Token?) async throws -> Bool {
        guard let other else { return false }
        let (bytes, otherBytes) = (Array(try token.encode()), Array(try other.encode()))
        if bytes == otherBytes { return true }
        guard bytes.sorted() == otherBytes.sorted() else { return false }
        return try await Self.written(by: token) == Self.written(by: other)
    }

    private static func written(by token: Token) async throws -> [String] {
        var exchange = Exchange(request: try HTTPRequest(.get, "https://host.invalid/"), options: TransferOptions())
        try await token.authorize(&exchange)
        return [exchange.request.target] + exchange.request.headers.map { "\($0.name): \($0.value)" }
    }
}

/// Whether an error means that the server will never renew the token. Any error that isn't known to mean so doesn't.
package func refusesGrant(_ error: any Error) -> Bool {
    switch error {
    case is RefreshRejectedError: true
    case let error as OAuthError: error.endsSession
    case NetworkError.clientError(let status, let body?, _) where [400, 403].contains(status):
        if case .code(let code) = OAuthErrorCode.read(from: body) { code.meaning(status: status) == .refusal } else { false }
    case NetworkError.unauthorized(let body, .some):
        switch OAuthErrorCode.read(from: body ?? []) {
        // With `invalid_client`, the client's own credentials are wrong; the user's token may still be valid.
        case .code(let code): [.refusal, .unknown].contains(code.meaning(status: 401))
        case .none: true
        case .unreadable: false
        }
    default: false
    }
}
