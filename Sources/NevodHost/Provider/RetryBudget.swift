internal import NevodSupport

/// Keeps the retries of all requests of a provider at a fraction of the requests. A single request that fails is worth a
/// retry; when everything fails, retries by everyone are what keeps a server down.
///
/// Each request pays a fraction of a retry in, each retry takes a whole one out. A small reserve, which time refills, lets a
/// program that sends few requests retry as well.
public final class RetryBudget: Sendable {
    private let account: Locked<RetryAccount>
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - ratio: of retries to requests.
    ///   - limit: the most retries that requests without trouble save up.
    ///   - reserve: retries that are there without any request.
    ///   - interval: in which an empty reserve becomes full again.
    public init(ratio: Double = 0.1, limit: Int = 100, reserve: Int = 10, per interval: Duration = .seconds(10)) {
        account = Locked(RetryAccount(ratio: ratio, limit: limit, reserve: reserve, interval: interval))
    }

    /// A request begins. Not for its retries.
    public func deposit() {
        account.withLock { $0.deposit() }
    }

    /// A retry is wanted; false if it may not be.
    public func withdraw() -> Bool {
        let now = ContinuousClock.now - start
        return account.withLock { $0.withdraw(now: now) }
    }
}

/// The sums behind a ``RetryBudget``.
struct RetryAccount: Sendable {
    private let ratio: Double
    private let limit: Double
    private let fullReserve: Double
    private let interval: Double
    private var saved = 0.0
    private var reserve: Double
    private var refilled = 0.0

    init(ratio: Double, limit: Int, reserve: Int, interval: Duration) {
        self.ratio = max(0, ratio)
        self.limit = Double(max(0, limit))
        fullReserve = Double(max(0, reserve))
        self.reserve = fullReserve
        self.interval = max(interval.inSeconds, 1e-3)
    }

    mutating func deposit() {
        saved = min(limit, saved + ratio)
    }

    /// - Parameter now: since any fixed instant; never less than before.
    mutating func withdraw(now: Duration) -> Bool {
        let now = max(refilled, now.inSeconds)
        reserve = min(fullReserve, reserve + (now - refilled) / interval * fullReserve)
        refilled = now
        // Ten tenths are a little less than one.
        if saved >= 1 - 1e-9 {
            saved -= 1
        } else if reserve >= 1 {
            reserve -= 1
        } else {
            return false
        }
        return true
    }
}
