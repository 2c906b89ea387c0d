internal import NevodSupport

/// When this session last had a token from a flow: from a challenge flow, which may have given the same session of the server again, or
/// from a refresh or login.
final class LatestRenewal: Sendable {
    private struct Times {
        var challenge: ContinuousClock.Instant?
        var renewal: ContinuousClock.Instant?
    }

    private let times = Locked(Times())

    func noteChallenge() { times.withLock { $0.challenge = .now } }

    func noteRenewal() { times.withLock { $0.renewal = .now } }

    /// Whether challenge flows were all that there was since then.
    func isByChallenge(since instant: ContinuousClock.Instant) -> Bool {
        times.withLock { times in
            times.challenge.map { $0 >= instant } ?? false && times.renewal.map { $0 < instant } ?? true
        }
    }
}
