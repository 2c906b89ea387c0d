internal import NevodSupport

/// What came of an attempt to renew a token.
enum RenewalOutcome: Sendable {
    /// Another token is stored than the rejected one, be it ours or somebody else's.
    case replaced
    /// A renewal ahead of time came to nothing; nobody has refused the token, so it serves on.
    case serving
    /// There is no other token to be had: a key that doesn't expire, for one. It stays stored.
    case kept
    /// The server refuses to renew it. It is cleared: only a login helps.
    case refused
    /// For now. It stays stored.
    case failed(any Error)
}

/// A server's word that a token can't be renewed, as by `invalid_grant` (RFC 6749 §5.2). A refresh strategy that sees it in a
/// form that the host doesn't know throws it, and the stored token is cleared. Nothing else clears one.
public struct RefreshRejectedError: Error, Sendable, Hashable, CustomStringConvertible {
    /// In the server's words, or yours; it stands in ``description``, so nothing secret may be in it.
    public let reason: String

    /// - Parameter reason: for a log; nothing secret.
    public init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { "the server refused to renew the token: \(reason)" }
}

/// Somebody has logged in or out while a token was renewed: that counts.
struct RenewalSupersededError: Error {}

extension TokenCoordinator {
    /// Obtains another token than this one: by one exchange for all who ask at a time, by none if another one is stored
    /// already.
    ///
    /// - Parameter isRefused: false if it is only due.
    func renew(
        _ version: TokenVersion, isRefused: Bool, until deadline: ContinuousClock.Instant?,
        by strategy: @escaping @Sendable (Token?) async throws -> Token, _ logger: (any NetworkLogger)? = nil
    ) async throws -> RenewalOutcome {
        try await renewal.join(until: deadline) {
            let outcome = await self.exchange(version, isRefused, strategy)
            self.report(outcome, to: logger)
            return outcome
        }
    }

    private func report(_ outcome: RenewalOutcome, to logger: (any NetworkLogger)?) {
        let what = "the token of type \(Token.self)"
        switch outcome {
        case .replaced where hasUnsaved: logger?.error("\(what) was renewed and could not be saved; it is kept in memory")
        case .replaced: logger?.info("\(what) was replaced")
        case .serving: logger?.notice("\(what) could not be renewed ahead of its end, and serves on")
        case .kept: logger?.notice("\(what) was refused, and there is no other")
        case .refused: logger?.warning("\(what) was refused for good, and is cleared; a login is needed")
        case .failed(let error): logger?.warning("\(what) could not be renewed, and is kept", ["error": "\(error)"])
        }
    }

    var isWithinItsRenewal: Bool { RenewalContext.belongs(toRenewalOf: ObjectIdentifier(self)) }

    private func exchange(
        _ version: TokenVersion, _ isRefused: Bool, _ strategy: @escaping @Sendable (Token?) async throws -> Token
    ) async -> RenewalOutcome {
        do {
            guard try await read().version == version else { return .replaced }
            return try await withRenewalLock { releaseLock in
                // Whoever held the lock has renewed it.
                let stored = try await read()
                guard stored.version == version else { return .replaced }
                let outcome = try await outcome(of: strategy, stored, releaseLock)
                switch outcome {
                case .kept where !isRefused:
                    return postponeRenewal(of: stored, forGood: true) ? .serving : outcome
                case .failed where !isRefused:
                    return postponeRenewal(of: stored, forGood: false) ? .serving : outcome
                default: return outcome
                }
            }
        } catch {
            // Nobody has refused it: that a lock can't be had is no reason not to use it.
            if !isRefused, let stored = try? await read(), stored.version == version,
                postponeRenewal(of: stored, forGood: false)
            {
                return .serving
            }
            return .failed(error)
        }
    }

    private func outcome(
        of strategy: @Sendable (Token?) async throws -> Token, _ stored: StoredToken<Token>,
        _ releaseLock: @escaping @Sendable () -> Void
    ) async throws -> RenewalOutcome {
        let token: Token
        let renewal = Renewal(of: ObjectIdentifier(self), stored.version, releaseLock: releaseLock)
        defer { renewal.finish() }
        do {
            token = try await RenewalContext.$renewing.withValue(RenewalContext.renewing + [renewal]) {
                try await strategy(stored.token)
            }
        } catch NetworkError.unauthorized(_, response: nil) {
            return .kept
        } catch is RenewalSupersededError {
            return .replaced
        } catch  where refusesGrant(error) {
            // Only if it is still the rejected one: somebody may have logged in meanwhile.
            return try await replace(renewal.base, with: nil) ? .refused : .replaced
        } catch {
            return .failed(error)
        }
        return try await install(token, instead: stored, base: renewal.base)
    }

    private func install(
        _ token: Token, instead old: StoredToken<Token>, base: TokenVersion
    ) async throws -> RenewalOutcome {
        guard try await !isSame(token, old.token) else { return .kept }
        // If somebody has logged in or out meanwhile, that counts, and the new token is dropped.
        _ = try await adopt(token, replacing: base)
        serveRenewed()
        return .replaced
    }

    /// What a server has issued in place of a token must not be lost.
    ///
    /// - Returns: false if it is only in memory, since it can't be written now.
    func adopt(_ token: Token, replacing version: TokenVersion) async throws -> Bool {
        do {
            _ = try await replace(version, with: token)
            return true
        } catch {
            try keepUnsaved(token, replacing: version)
            return false
        }
    }

    /// Saves a token in the middle of a renewal, for a server that rotates: what it has issued must not be lost. Outside of one,
    /// as in a login, it replaces whatever is stored.
    func keep(_ token: Token) async throws {
        guard let renewal = RenewalContext.renewing.last(where: { $0.coordinator == ObjectIdentifier(self) && !$0.isOver }) else {
            return try await write(token)
        }
        guard try await replace(renewal.base, with: token) else { throw RenewalSupersededError() }
        renewal.base = try await read().version
    }

    /// Whether a renewed token is the old one, of which the server wants nothing. Encodings may differ in the order of their
    /// parts: dictionaries have none. So tokens of the same bytes, in whatever order, count as one if they write the same.
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

/// Whether a server has said that a token can't be renewed, now or ever. An error that isn't known to say so doesn't.
private func refusesGrant(_ error: any Error) -> Bool {
    switch error {
    case is RefreshRejectedError: true
    case NetworkError.clientError(let status, let body?, _) where [400, 403].contains(status):
        OAuthErrorCode(inBody: body).map(OAuthErrorCode.refusals.contains) ?? false
    // The client's own credentials are wrong: that is no fault of the user's.
    case NetworkError.unauthorized(let body, .some): OAuthErrorCode(inBody: body ?? []) != .invalidClient
    default: false
    }
}

@available(*, deprecated, renamed: "RefreshRejectedError")
public typealias TokenRefused = RefreshRejectedError
