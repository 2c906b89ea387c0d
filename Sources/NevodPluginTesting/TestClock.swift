internal import NevodSupport

/// The time that a scheme sees. It stands still, except that a flow's `wait` moves it.
public final class TestClock: Sendable {
    private let time: Locked<Int64>

    /// - Parameter unixNanoseconds: nanoseconds since 1970-01-01T00:00:00Z.
    public init(unixNanoseconds: Int64) {
        time = Locked(unixNanoseconds)
    }

    /// Returns a clock that stands at a time.
    ///
    /// - Parameter unixSeconds: seconds since 1970-01-01T00:00:00Z.
    public static func fixed(_ unixSeconds: Int64) -> TestClock {
        let (time, overflow) = unixSeconds.multipliedReportingOverflow(by: 1_000_000_000)
        return TestClock(unixNanoseconds: overflow ? .max : time)
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z.
    public var unixNanoseconds: Int64 { time.withLock { $0 } }

    /// Moves the clock: to see a token expire, for example.
    ///
    /// - Parameter seconds: negative to set it back.
    public func advance(by seconds: Int64) {
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        advance(nanoseconds: overflow ? (seconds < 0 ? .min : .max) : nanoseconds)
    }

    func advance(nanoseconds: Int64) {
        time.withLock { time in
            let (sum, overflow) = time.addingReportingOverflow(nanoseconds)
            time = overflow ? (nanoseconds < 0 ? .min : .max) : sum
        }
    }
}
