import Glibc
import NevodHost
import NevodSupport

/// Ends the process by `--max-time` if a plugin is stuck where nothing else has a deadline: while it is loaded, while an instance
/// is made, or in a login. Requests end by themselves, with the same error.
enum CallWatchdog {
    /// The time that a request's own deadline gets to end the process.
    private static let interval: UInt32 = 250_000

    /// - Parameters:
    ///   - limit: the time of `--max-time`.
    ///   - end: reports the message and ends the process.
    static func start(after limit: Duration, end: @escaping @Sendable (_ message: String) -> Void) {
        SystemThread.start {
            // A call has all of the time for itself: a person may have taken long to log in before it.
            var began: [CallInProgress: ContinuousClock.Instant] = [:]
            let start = ContinuousClock.now
            while true {
                usleep(interval)
                let now = ContinuousClock.now
                let calls = CallInProgress.all
                began = began.filter { calls.contains($0.key) }
                // In progress at the first look: since the start, as far as this thread knows.
                for call in calls where began[call] == nil { began[call] = now - start < .seconds(1) ? start : now }
                if let stuck = began.first(where: { now - $0.value >= limit }) { end(message(about: stuck.key)) }
            }
        }
    }

    private static func message(about call: CallInProgress) -> String {
        let subject = call.scheme.map { "the scheme \"\($0)\"" } ?? "the library"
        return "\(call.library): \(subject) had not returned from \(call.function) when --max-time was up; "
            + "allow more time, or report it to the plugin's author"
    }
}
