import Glibc
import NevodHost
import NevodSupport

/// Ends the process after `--max-time`, whatever it is doing: a blocked read or write, a question, a plugin's call. Requests end
/// on their own a moment earlier, with a more precise error.
///
/// One thing may take longer: the wait for a renewal's response, without which the session would be lost
/// (`SchemeLogin.savingTokens`).
enum TimeLimit {
    /// The start of the process. The limit counts from here.
    private static let start = ContinuousClock.now

    /// How long after the limit the process is ended, so that a request can fail at its own deadline first.
    private static let margin = Duration.milliseconds(250)

    private static let limit = Locked<Duration?>(nil)

    /// The limit of `--max-time`; nil without one.
    static var enforced: Duration? { limit.withLock(\.self) }

    /// Starts the clock. Call this first.
    static func begin() { _ = start }

    /// Returns what is left of a limit, at least a millisecond.
    static func remaining(of limit: Duration) -> Duration {
        max(.milliseconds(1), limit - (ContinuousClock.now - start))
    }

    /// - Parameters:
    ///   - limit: the limit of `--max-time`.
    ///   - end: reports the message and ends the process.
    static func enforce(_ limit: Duration, end: @escaping @Sendable (_ message: String) -> Never) {
        Self.limit.withLock { $0 = limit }
        let deadline = start + limit
        SystemThread.start {
            sleep(until: deadline)
            let calls = CallInProgress.all
            sleep(until: deadline + margin)
            // A call that began after the deadline isn't the reason.
            let stuck = calls.intersection(CallInProgress.all).first
            let message = stuck.map(message) ?? message(limit)
            Interruption.shared.expire { end(message) }
        }
    }

    private static func message(about call: CallInProgress) -> String {
        let subject = call.scheme.map { "the scheme \"\($0)\"" } ?? "the library"
        return "\(call.library): \(subject) had not returned from \(call.function) when --max-time was up; "
            + "allow more time, or report it to the plugin's author"
    }

    private static func message(_ limit: Duration) -> String {
        let activity = Activity.current.map { ", while \($0)" } ?? ""
        return "--max-time was up after \(Units.seconds(limit))\(activity)"
    }

    private static func sleep(until end: ContinuousClock.Instant) {
        while case let rest = end - ContinuousClock.now, rest > .zero {
            // Sleeps in pieces: usleep(3) takes less than a second, and the clock goes on while the machine is suspended.
            let (seconds, attoseconds) = rest.components
            usleep(seconds > 0 ? 500_000 : useconds_t(clamping: min(500_000, attoseconds / 1_000_000_000_000 + 1)))
        }
    }
}

/// Reads, writes and questions that the process waits for outside of a request, for the message of `TimeLimit`.
enum Activity {
    private static let names = Locked<[String]>([])

    /// The newest activity; nil if there is none.
    static var current: String? { names.withLock { $0.last } }

    static func during<Success, Failure: Error>(
        _ name: @autoclosure () -> String, _ body: () throws(Failure) -> Success
    ) throws(Failure) -> Success {
        let name = name()
        names.withLock { $0.append(name) }
        defer { names.withLock { names in names.lastIndex(of: name).map { _ = names.remove(at: $0) } } }
        return try body()
    }
}
