internal import NevodSupport

/// Decides when a token with a known expiry is renewed before the server refuses it. If an early renewal fails, the token stays
/// in use, and the next attempt follows a little later.
extension TokenCoordinator {
    /// A little before expiry, with jitter: clients that logged in at the same time would otherwise all renew at the same time.
    func renewalTime(of token: Token?) -> UnixTime? {
        guard let expiry = token?.expiresAt.unixTime else { return nil }
        let rest = expiry - clock.now
        guard rest > .zero else { return expiry }
        return expiry - min(.seconds(30), rest / 4) * Double.random(in: 0.5...1)
    }

    /// Whether the token should be renewed before the server refuses it.
    func isDue(_ version: TokenVersion) -> Bool {
        let now = clock.now
        return memory.withLock { $0.current.version == version && $0.renewal.map { $0 <= now } == true }
    }

    func isExpired(_ token: Token?) -> Bool {
        let now = clock.now
        return token?.expiresAt.unixTime.map { $0 <= now } == true
    }

    /// Delays the next early renewal by five seconds, after one has failed.
    func delayEarlyRenewal(of version: TokenVersion) {
        let time = clock.now + .seconds(5)
        memory.withLock { $0.postponeRenewal(until: time, of: version) }
    }

    /// Stops early renewals: from now on, the token is renewed only after the server refuses it.
    func stopEarlyRenewal(of version: TokenVersion) {
        memory.withLock { $0.postponeRenewal(until: nil, of: version) }
    }

    /// Called after a renewal. If the new token has already expired by this machine's clock, the server's clock differs. The
    /// token is then used until the server refuses it; otherwise each request would renew it.
    func ignoreExpiryIfPassed() {
        let now = clock.now
        memory.withLock { memory in
            guard let renewal = memory.renewal, renewal <= now else { return }
            memory.postponeRenewal(until: nil, of: memory.current.version)
        }
    }
}
