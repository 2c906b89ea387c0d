internal import NevodSupport

/// Decides how a scheme obtains another token: by a challenge flow, a refresh or a login, and whether a person may be asked.
extension SchemeSession {
    /// Obtains a new token by a refresh, or if that is not possible, by a login.
    ///
    /// - Parameter client: the client of the request that needs the token; nil if no request does.
    func renewed(_ old: PluginToken?, for client: ClientLines? = nil) async throws -> PluginToken {
        let old = own(old)
        let driver = driver(for: client)
        return try await withPluginErrors(renewing: old) {
            if let old, RenewalContext.renewal(of: ObjectIdentifier(coordinator))?.isEarly == true {
                return try await renewedEarly(old, by: driver)
            }
            if let old, let token = try await refreshed(old, by: driver) { return self.token(token) }
            return try await loggedIn(replacing: old, by: driver)
        }
    }

    /// Renews a token that still works, without asking a person. If a login is refused, the token stays in use, and the login
    /// isn't retried until the server refuses the token: an account may be locked after a few attempts.
    private func renewedEarly(_ old: PluginToken, by driver: FlowDriver) async throws -> PluginToken {
        var driver = driver
        driver.interaction = nil
        do {
            if let token = try await refreshed(old, by: driver) { return self.token(token) }
            do { return try await loggedIn(replacing: old, by: driver) } catch let error as PluginError
                where error.status == .denied
            {
                throw NetworkError.unauthorized
            }
        } catch let error as PluginError where error.isUnanswered {
            throw NetworkError.unauthorized
        }
    }

    /// Returns nil for a token of another scheme or server, which no flow may see.
    private func own(_ token: PluginToken?) -> PluginToken? {
        token?.purpose == instance.purpose ? token : nil
    }

    private func loggedIn(replacing old: PluginToken?, by driver: FlowDriver) async throws -> PluginToken {
        let wanted = account.isEmpty ? old?.account ?? "" : account
        let issued = try await driver.run(.login, account: wanted, keep: { try await coordinator.keep(token($0)) })
        guard let issued else { throw NetworkError.unauthorized }
        latestRenewal.noteRenewal()
        return token(issued)
    }

    /// Returns nil if a login is needed.
    private func refreshed(_ old: PluginToken, by driver: FlowDriver) async throws -> IssuedToken? {
        do {
            let issued = try await driver.run(
                .refresh, token: old.issued, account: account, keep: { try await coordinator.keep(token($0)) })
            if issued != nil { latestRenewal.noteRenewal() }
            return issued
        } catch let error as PluginError where error.status == .badToken {
            return nil
        }
    }

    /// Obtains a token by a challenge flow with the response, or if that is not possible and `mayLogIn`, by a login.
    func challenged(
        _ old: PluginToken?, _ response: FlowResponse, at origin: Origin, mayLogIn: Bool, for client: ClientLines
    ) async throws -> PluginToken {
        let old = own(old)
        let driver = driver(for: client)
        return try await withPluginErrors(renewing: old) {
            do {
                let issued = try await driver.run(
                    .challenge, token: old?.issued, account: account, response: response, at: origin, keep: keepInChallenge)
                if let issued {
                    latestRenewal.noteChallenge()
                    return token(issued)
                }
            } catch let error as PluginError where error.status == .badToken {}
            guard mayLogIn else { throw NetworkError.unauthorized }
            return try await loggedIn(replacing: old, by: driver)
        }
    }

    /// Saves a token in the middle of a challenge flow. If another one has been stored meanwhile, that one stays, and the flow
    /// goes on: its result may be that the request need not be sent again.
    private func keepInChallenge(_ issued: IssuedToken) async throws {
        do { try await coordinator.keep(token(issued)) } catch is RenewalSupersededError {}
    }

    /// Stores the token that a response brought in place of the one that its request carried. If several responses bring one, the
    /// first counts; during a renewal, the renewed token counts.
    func adopt(_ issued: IssuedToken, replacing carried: TokenVersion) async throws {
        let (coordinator, instance, logger) = (coordinator, instance, logger)
        // Takes the renewal's slot, so that no renewal starts in the meantime: it would use up the token that is replaced here.
        _ = try await coordinator.renewal.runIfIdle {
            do {
                let stored = try await coordinator.read()
                let token = PluginToken(issued.replacing(stored.token?.issued), of: instance)
                let isSaved = try await coordinator.adopt(token, replacing: carried)
                if !isSaved { logger?.error("a token of \(instance.scheme.id) could not be saved; it is kept in memory") }
                return .replaced
            } catch {
                return .failed(error)
            }
        }
    }

    /// Converts a scheme's permanent refusal to ``RefreshRejectedError``; other failures are transient and pass unchanged.
    /// Without an old token there is nothing to reject, and the scheme's own error says more.
    private func withPluginErrors(
        renewing old: PluginToken?, _ body: () async throws -> PluginToken
    ) async throws -> PluginToken {
        do { return try await body() } catch let error as PluginError where error.status == .denied && old != nil {
            throw RefreshRejectedError(error.description)
        }
    }
}

extension PluginError {
    /// Whether a flow's question got no answer.
    fileprivate var isUnanswered: Bool {
        if case .unanswered = reason { true } else { false }
    }
}

/// When this session last got a token from a challenge flow, and when from a refresh or login. They are told apart because a
/// challenge flow may have kept the server's session.
final class LatestRenewal: Sendable {
    private struct Times {
        var challenge: ContinuousClock.Instant?
        var renewal: ContinuousClock.Instant?
    }

    private let times = Locked(Times())

    func noteChallenge() { times.withLock { $0.challenge = .now } }

    func noteRenewal() { times.withLock { $0.renewal = .now } }

    /// Whether a challenge flow has brought a token since then, and no refresh or login has.
    func isByChallenge(since instant: ContinuousClock.Instant) -> Bool {
        times.withLock { times in
            times.challenge.map { $0 >= instant } ?? false && times.renewal.map { $0 < instant } ?? true
        }
    }
}
