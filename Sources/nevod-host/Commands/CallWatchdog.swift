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
        let deadline = ContinuousClock.now + limit
        SystemThread.start {
            var seen: Set<CallInProgress> = []
            while true {
                usleep(interval)
                guard ContinuousClock.now >= deadline else { continue }
                let calls = CallInProgress.all
                if let stuck = calls.intersection(seen).first { end(message(about: stuck)) }
                seen = calls
            }
        }
    }

    private static func message(about call: CallInProgress) -> String {
        let subject = call.scheme.map { "the scheme \"\($0)\"" } ?? "the library"
        return "\(call.library): \(subject) had not returned from \(call.function) when --max-time was up; "
            + "allow more time, or report it to the plugin's author"
    }
}
