public import Foundation
public import NevodHost

/// So that a token's own `let expiresAt: Date` counts.
extension Date: TimePoint {
    public var unixTime: UnixTime? { UnixTime(self) }
}

extension UnixTime {
    /// What is beyond the year 2262 is the end of that time.
    public init(_ date: Date) {
        self = UnixTime(seconds: 0) + .seconds(min(max(date.timeIntervalSince1970, -9.2e9), 9.2e9))
    }
}

extension Date {
    /// To a microsecond or so: a `Date` counts in binary fractions of a second.
    public init(_ time: UnixTime) {
        self.init(timeIntervalSince1970: Double(time.nanoseconds) / 1e9)
    }
}
