public import Foundation
public import NevodHost

/// Lets a token declare its expiry as `let expiresAt: Date`.
extension Date: TimePoint {
    public var unixTime: UnixTime? { UnixTime(self) }
}

extension UnixTime {
    /// Converts a date. Dates outside the range of `UnixTime`, which ends in the year 2262, are clamped to it.
    public init(_ date: Date) {
        self = UnixTime(seconds: 0) + .seconds(min(max(date.timeIntervalSince1970, -9.2e9), 9.2e9))
    }
}

extension Date {
    /// Converts a time, with a precision of about a microsecond: a `Date` stores seconds in floating point.
    public init(_ time: UnixTime) {
        self.init(timeIntervalSince1970: Double(time.nanoseconds) / 1e9)
    }
}
