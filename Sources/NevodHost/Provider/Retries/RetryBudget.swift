internal import NevodSupport

/// Limits the retries of a provider to a fraction of its requests, because retrying every request would keep an overloaded server
/// down.
///
/// Each request deposits a fraction of a retry, and each retry withdraws a whole one. A small reserve that refills over time lets
/// programs that send few requests retry as well.
final class RetryBudget: Sendable {
    private let account: Locked<RetryAccount>
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - ratio: the ratio of retries to requests.
    ///   - limit: the maximum number of retries that requests accumulate.
    ///   - reserve: the number of retries available without any requests.
    ///   - interval: the time in which an empty reserve refills.
    init(ratio: Double = 0.1, limit: Int = 100, reserve: Int = 10, per interval: Duration = .seconds(10)) {
        account = Locked(RetryAccount(ratio: ratio, limit: limit, reserve: reserve, interval: interval))
    }

    /// Called when a request begins, but not for its retries.
    func deposit() {
        account.withLock { $0.deposit() }
    }

    /// Takes one retry from the budget; false if there is none.
    func withdraw() -> Bool {
        let now = ContinuousClock.now - start
        return account.withLock { $0.withdraw(now: now) }
    }
}

/// The arithmetic of a ``RetryBudget``, without a clock.
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

    /// - Parameter now: the time since a fixed instant. A value less than the previous one is treated as the previous one.
    mutating func withdraw(now: Duration) -> Bool {
        let now = max(refilled, now.inSeconds)
        reserve = min(fullReserve, reserve + (now - refilled) / interval * fullReserve)
        refilled = now
        // The tolerance absorbs rounding: ten deposits of 0.1 add up to slightly less than 1.
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
