/// A server's clock as the `Date` fields of its responses show it: a state machine that gets every time as an argument.
///
/// A `Date` names the second in which its response was generated (RFC 9110 §6.6.1). This is after the request was sent and before
/// the response arrived. So the server's clock is ahead of this machine's uptime by at least `Date` − arrival and at most
/// `Date` + 1 s − sending, as in NTP. Several responses narrow this interval to what they have in common. An interval that has
/// nothing in common with the known one replaces it: the server's clock was set.
///
/// Intervals refer to the uptime because it can't be set. Setting the local wall clock during a request changes the correction,
/// but not the estimate.
///
/// The correction is the smallest that moves the local time into the interval: zero within the interval, and otherwise up to its
/// nearest edge. An edge moves only if a response proves the correction too small, and never by more than the interval's width.
/// The middle would move with every response that narrows the interval.
struct ServerClock: Sendable {
    /// A change to report after a response. Differences are in nanoseconds, and positive if the server's clock is ahead.
    enum Change: Sendable, Equatable {
        case none
        /// A correction began, or changed by more than ``noticeable``.
        case corrected(Int64)
        /// The correction ended.
        case agrees
        /// The difference is too large to correct. Not returned again until the difference has been smaller.
        case tooFar(Int64)
    }

    /// A smaller change of a correction is neither reported nor a reason to sign a request again. In nanoseconds.
    static let noticeable: Int64 = 5_000_000_000
    /// A larger difference is not corrected, in nanoseconds: a day.
    static let largest: Int64 = 86_400_000_000_000

    /// The years 1970 to 2200. Beyond them, sums with an uptime could overflow.
    private static let dates: Range<Int64> = 0..<7_258_118_400_000_000_000
    /// The uptime and the server's clock may drift apart by a ten-thousandth; NTP assumes less drift (RFC 5905 §4: PHI).
    private static let drift: Int64 = 10_000
    private static let second: Int64 = 1_000_000_000

    /// The server's time minus the uptime, in nanoseconds.
    private struct Interval {
        var low: Int64
        var high: Int64
    }

    private var interval: Interval?
    /// The uptime before the last request. The two clocks may have drifted apart since then.
    private var learned: Int64 = 0
    /// The last correction that was reported.
    private var reported: Int64 = 0
    private var isTooFar = false
    /// Whether the last response found the local time outside of the interval, by no more than a day.
    private(set) var isCorrected = false

    /// Learns from a response.
    ///
    /// - Parameters:
    ///   - date: the response's `Date`.
    ///   - sent: the uptime before the request was sent, in nanoseconds.
    ///   - received: the uptime after the response's header lines arrived. A late reading only widens the interval.
    ///   - wall: the local time after the response's arrival, in nanoseconds since 1970.
    mutating func learn(_ date: UnixTime, sentAt sent: Int64, receivedAt received: Int64, wall: Int64) -> Change {
        guard Self.dates.contains(date.nanoseconds), sent <= received else { return .none }
        let seen = Interval(low: date.nanoseconds - received, high: date.nanoseconds + Self.second - sent)
        interval = known(at: received).flatMap { Self.intersection(of: $0, seen) } ?? seen
        learned = sent
        return report(difference(from: wall, at: received))
    }

    /// Returns the correction of a local time, in nanoseconds; 0 if none is known or allowed.
    ///
    /// - Parameters:
    ///   - wall: the local time, in nanoseconds since 1970.
    ///   - uptime: the uptime at the same instant, in nanoseconds.
    func correction(of wall: Int64, at uptime: Int64) -> Int64 {
        let difference = difference(from: wall, at: uptime)
        return difference.magnitude <= Self.largest ? difference : 0
    }

    private mutating func report(_ difference: Int64) -> Change {
        let wasTooFar = isTooFar
        isTooFar = difference.magnitude > Self.largest
        isCorrected = difference != 0 && !isTooFar
        if isTooFar {
            reported = 0
            return wasTooFar ? .none : .tooFar(difference)
        }
        guard (difference - reported).magnitude > Self.noticeable else { return .none }
        reported = difference
        return difference == 0 ? .agrees : .corrected(difference)
    }

    /// The interval, widened by the drift since the last request.
    private func known(at uptime: Int64) -> Interval? {
        guard let interval else { return nil }
        let drift = max(0, uptime - learned) / Self.drift
        return Interval(low: interval.low - drift, high: interval.high + drift)
    }

    private static func intersection(of one: Interval, _ other: Interval) -> Interval? {
        let common = Interval(low: max(one.low, other.low), high: min(one.high, other.high))
        return common.low <= common.high ? common : nil
    }

    /// The smallest change that moves the local time into the interval.
    private func difference(from wall: Int64, at uptime: Int64) -> Int64 {
        guard let known = known(at: uptime) else { return 0 }
        let nearest = min(max(wall, known.low + uptime), known.high + uptime)
        let (difference, overflow) = nearest.subtractingReportingOverflow(wall)
        return overflow ? (wall < 0 ? .max : .min) : difference
    }
}
