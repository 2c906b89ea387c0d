internal import NevodSupport

extension TokenCoordinator {
    /// Obtains a token to replace the token of `version`. Concurrent callers share one renewal. Does nothing if another token is
    /// stored already.
    ///
    /// - Parameters:
    ///   - isRefused: true if the server has refused the token; false if it is only due for renewal before expiry.
    ///   - began: when the request that needs the token began; nil if no request does. A refusal since then applies to the
    ///     request.
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

    /// Whether the current task is part of a renewal of this token.
    var isRenewedByCurrentTask: Bool { RenewalContext.renewal(of: ObjectIdentifier(self)) != nil }

    private func exchange(
        _ version: TokenVersion, _ isRefused: Bool, _ strategy: @escaping @Sendable (Token?) async throws -> Token
    ) async -> RenewalOutcome {
        do {
            // If another process takes the renewal over, the next round waits for that process.
            for _ in 0..<3 {
                guard try await read().version == version else { return outcomeElsewhere(of: version) }
                if let outcome = try await exchangeUnderLock(version, isRefused, strategy) { return outcome }
            }
            throw StorageError(.busy, "\(key)", problem: "other processes keep taking over its renewal", remedy: "try again")
        } catch {
            // The server has not refused the token, so it stays in use even if the renewal lock can't be taken.
            if !isRefused, let stored = try? await read(), stored.version == version {
                delayEarlyRenewal(of: version)
                if !isExpired(stored.token) { return .stillUsable }
            }
            return .failed(error)
        }
    }

    /// - Returns: nil if another process took the lock over before anything was sent.
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
            // There is no token to clear, but other processes may be waiting to try the same password.
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

    /// Saves a token that a server issued to replace the token of `version`. Keeps it in memory if it can't be saved now.
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

    /// Saves a token in the middle of a renewal, because a server that rotates tokens has already invalidated the stored one.
    /// Outside a renewal, for example during a login, replaces whatever is stored.
    func keep(_ token: Token) async throws {
        guard let renewal = RenewalContext.renewal(of: ObjectIdentifier(self)) else { return try await write(token) }
        guard try await replace(renewal.base, with: token, .renewal) else { throw RenewalSupersededError() }
        renewal.base = try await read().version
    }

    /// Whether a renewed token equals the old one. Two encodings of one token may differ in the order of their parts, since
    /// dictionaries have no order. So two tokens are equal if the bytes of one are a permutation of the other's, and both write
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

// The storage's renewal lock: which process renews the token, and how long it keeps the others waiting.
extension TokenCoordinator {
    /// Runs `body` while holding the storage's renewal lock, if the storage has one. The lock is released when `body` calls
    /// `releaseLock`, or once `body` has returned and its token is saved. If it were released earlier, the next holder would
    /// spend the outdated token in the storage, and a server that rotates tokens would end the session. Returns without waiting
    /// for the save.
    func withRenewalLock<Success: Sendable>(
        _ body: (_ releaseLock: @escaping @Sendable () -> Void) async throws -> Success
    ) async throws -> Success {
        guard let withLock = storage.withRenewalLock else { return try await body {} }
        let (taken, released) = (Waiter<Void>(), Waiter<Void>())
        let release = { @Sendable () -> Void in released.resume(with: .success(())) }
        let key = key
        let holding = Task {
            let isTaken = Locked(false)
            defer { if isTaken.withLock(\.self) { self.holds.withLock { $0 -= 1 } } }
            let problem = "the storage's renewal lock did not run the renewal"
            do {
                try await withLock(key) {
                    isTaken.withLock { $0 = true }
                    self.holds.withLock { $0 += 1 }
                    taken.resume(with: .success(()))
                    _ = try? await released.value(until: nil)
                }
                taken.resume(with: .failure(StorageError(.other, "\(key)", problem: problem)))
            } catch {
                taken.resume(with: .failure(error))
            }
        }
        defer { if hasUnsaved { retrySaving(then: release) } else { release() } }
        try await withTaskCancellationHandler {
            try await taken.value(until: nil)
        } onCancel: {
            holding.cancel()
        }
        return try await body(release)
    }

    /// Waits until no renewal lock is held.
    func waitForRelease(until deadline: ContinuousClock.Instant) async {
        while holdsLock, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(2)) }
    }

    /// Checks that the renewal lock is still held by this process.
    func confirmRenewalLock() async throws {
        try await storage.confirmRenewalLock?(key)
    }

    /// Whether a renewal lock is held, or the storage hasn't released it yet.
    var holdsLock: Bool { holds.withLock { $0 > 0 } }
}

/// One renewal of a coordinator's token. A task that the renewal started, and that outlives it, sees here that the renewal has
/// finished.
final class Renewal: Sendable {
    let coordinator: ObjectIdentifier
    /// Whether the old token still works: no server has refused it, and it has not expired.
    let isEarly: Bool
    private let finished = Locked(false)
    private let version: Locked<TokenVersion>
    /// Releases the storage's renewal lock before the renewal has finished. A flow calls it before it asks a person: it no longer
    /// spends the stored token, so other processes needn't wait for the person. May be called more than once.
    let releaseLock: @Sendable () -> Void
    private let confirmLock: @Sendable () async throws -> Void
    private let progress = Locked(Progress.waiting)

    private enum Progress {
        /// Nothing has been sent that could spend the stored token.
        case waiting
        case sent
        /// Another process took over the storage's renewal lock before anything was sent.
        case stopped
    }

    /// - Parameters:
    ///   - base: the version that the renewed token will replace.
    ///   - isEarly: whether the token still works.
    ///   - confirmLock: throws if the storage's renewal lock is no longer held.
    init(
        of coordinator: ObjectIdentifier, _ base: TokenVersion, isEarly: Bool = false,
        releaseLock: @escaping @Sendable () -> Void = {},
        confirmLock: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.coordinator = coordinator
        self.isEarly = isEarly
        version = Locked(base)
        self.releaseLock = releaseLock
        self.confirmLock = confirmLock
    }

    /// Checks that the storage's renewal lock is still held, before a request of the renewal is sent. Once a request has been
    /// sent that may spend the stored token, the renewal continues in any case: stopping would lose the new token.
    ///
    /// - Parameter isSafe: whether the request's method is safe (RFC 9110 §9.2.1), so that it spends nothing.
    func willSend(isSafe: Bool) async throws {
        guard progress.withLock({ $0 != .sent }) else { return }
        do { try await confirmLock() } catch {
            progress.withLock { $0 = .stopped }
            throw error
        }
        if !isSafe { progress.withLock { $0 = .sent } }
    }

    /// Whether the renewal was stopped before it sent anything.
    var isStopped: Bool { progress.withLock { $0 == .stopped } }

    /// The version that the renewed token will replace. Changes when a token is saved in the middle of the renewal.
    var base: TokenVersion {
        get { version.withLock { $0 } }
        set { version.withLock { $0 = newValue } }
    }

    var isFinished: Bool { finished.withLock { $0 } }

    func finish() {
        finished.withLock { $0 = true }
    }
}

/// The outcome of an attempt to renew a token.
enum RenewalOutcome: Sendable {
    /// The stored token was replaced by the renewed token, or by one that was saved meanwhile.
    case replaced
    /// A renewal before expiry failed. The server has not refused the token, so it remains in use.
    case stillUsable
    /// No other token can be obtained, for example for a key that doesn't expire. The stored token stays.
    case noReplacement
    /// The server refused the renewal, for this reason. The token is cleared: a login is needed.
    case refused(any Error)
    /// The renewal failed, and may succeed later. The stored token stays.
    case failed(any Error)
}

/// A login or logout replaced the token during its renewal, and takes precedence.
struct RenewalSupersededError: Error {}
