/// A point in time on the wall clock, as expiries and HTTP dates give it.
public struct UnixTime: Sendable, Hashable, Comparable {
    /// Since 1970-01-01T00:00:00Z.
    public let nanoseconds: Int64

    /// - Parameter nanoseconds: since 1970-01-01T00:00:00Z; reaches from 1677 to 2262.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// - Parameter seconds: since 1970-01-01T00:00:00Z; what is beyond the year 2262 is the end of that time.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        nanoseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds, rounded down.
    public var seconds: Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// What is out of reach is the end of time.
    public static func + (time: UnixTime, duration: Duration) -> UnixTime {
        let (seconds, attoseconds) = duration.components
        let (whole, wholeOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, sumOverflow) = time.nanoseconds.addingReportingOverflow(whole)
        guard !wholeOverflow, !sumOverflow else { return UnixTime(nanoseconds: seconds < 0 ? .min : .max) }
        let (result, overflow) = sum.addingReportingOverflow(attoseconds / 1_000_000_000)
        return UnixTime(nanoseconds: overflow ? (attoseconds < 0 ? .min : .max) : result)
    }

    /// What is out of reach is the beginning of time, or its end.
    public static func - (time: UnixTime, duration: Duration) -> UnixTime {
        time + (.zero - duration)
    }

    /// Negative where the left time is the earlier.
    public static func - (left: UnixTime, right: UnixTime) -> Duration {
        .nanoseconds(left.nanoseconds) - .nanoseconds(right.nanoseconds)
    }
}

extension HostClock {
    /// What the clock shows; its steps may be coarser than a nanosecond.
    public var now: UnixTime { UnixTime(nanoseconds: unixNanoseconds()) }
}
