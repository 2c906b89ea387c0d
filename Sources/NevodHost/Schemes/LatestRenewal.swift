internal import NevodSupport

/// When a session's token last came from a refresh or a login. A challenge flow may have given the same session again.
final class LatestRenewal: Sendable {
    private let time = Locked<ContinuousClock.Instant?>(nil)

    func note() { time.withLock { $0 = .now } }

    func isSince(_ instant: ContinuousClock.Instant) -> Bool { time.withLock { time in time.map { $0 >= instant } ?? false } }
}
