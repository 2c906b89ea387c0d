/// A point in time on the wall clock, used for expiries and HTTP dates.
public struct UnixTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    public let nanoseconds: Int64

    /// - Parameter nanoseconds: nanoseconds since 1970-01-01T00:00:00Z. The range is from 1677 to 2262.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// - Parameter seconds: seconds since 1970-01-01T00:00:00Z, clamped to the range from 1677 to 2262.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        nanoseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    public var seconds: Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The result is clamped to the range from 1677 to 2262.
    public static func + (time: UnixTime, duration: Duration) -> UnixTime {
        let (seconds, attoseconds) = bounded(duration).components
        let (whole, wholeOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, sumOverflow) = time.nanoseconds.addingReportingOverflow(whole)
        guard !wholeOverflow, !sumOverflow else { return UnixTime(nanoseconds: seconds < 0 ? .min : .max) }
        let (result, overflow) = sum.addingReportingOverflow(attoseconds / 1_000_000_000)
        return UnixTime(nanoseconds: overflow ? (attoseconds < 0 ? .min : .max) : result)
    }

    /// The result is clamped to the range from 1677 to 2262.
    public static func - (time: UnixTime, duration: Duration) -> UnixTime {
        time + (.zero - bounded(duration))
    }

    /// Clamps a duration to a range wider than the range of times. (A duration of more seconds than an Int64 holds has no
    /// components.)
    private static func bounded(_ duration: Duration) -> Duration {
        min(max(duration, .seconds(-1 << 35)), .seconds(1 << 35))
    }

    /// Negative if the left time is earlier.
    public static func - (left: UnixTime, right: UnixTime) -> Duration {
        .nanoseconds(left.nanoseconds) - .nanoseconds(right.nanoseconds)
    }
}

/// A type that can represent an expiry: ``UnixTime``, Foundation's `Date`, or an optional of one.
public protocol TimePoint: Sendable {
    /// The time; nil for no expiry.
    var unixTime: UnixTime? { get }
}

extension UnixTime: TimePoint {
    public var unixTime: UnixTime? { self }
}

extension Optional: TimePoint where Wrapped: TimePoint {
    public var unixTime: UnixTime? { flatMap(\.unixTime) }
}

/// The expiry type of tokens without an expiry.
public struct NoExpiry: TimePoint {
    public var unixTime: UnixTime? { nil }
}
