/// Asks the person in front of the device to confirm that they are there. (A ``Presence``, in contrast, remembers for how long a
/// confirmation counts, and lets concurrent requests share one question.)
///
/// ```swift
/// struct Scripted: PresenceCheck {
///     let isConfirmed: Bool
///
///     func confirm(reason: String) async throws(PresenceError) {
///         guard isConfirmed else { throw PresenceError(.refused, "the test", problem: "says no") }
///     }
/// }
/// ```
public protocol PresenceCheck: Sendable {
    /// Returns if the person has confirmed. When the task is cancelled, the check stops asking and throws.
    ///
    /// - Parameter reason: what the confirmation is for, as a sentence for the person.
    /// - Throws: why there is no confirmation; see ``PresenceError/Code``.
    func confirm(reason: String) async throws(PresenceError)
}

/// Why a presence was not confirmed. Names the check and the way out; never contains what a person typed.
public struct PresenceError: Error, Sendable, Hashable {
    /// The kind of failure, for a program to act on. No failure ends a session: tokens stay stored.
    public enum Code: Sendable, Hashable {
        /// The person did not prove to be the user (a wrong password), or the account may not be used. Ask again.
        case refused
        /// The check can't take place here: a library, a service, a sensor or a terminal is missing. Change the setup.
        case unavailable
        /// The check took too long.
        case timedOut
        /// The person, or the task, cancelled the check.
        case cancelled
    }

    /// The kind of failure; ``problem`` describes it to a person.
    public let code: Code
    /// The name of the check, such as `PAM service login`.
    public let check: String
    /// The problem, worded to follow the name of the check.
    public let problem: String
    /// The remedy, for a person.
    public let remedy: String?
    /// The system's own code, such as PAM's; nil if there is none.
    public let systemCode: Int32?

    /// Creates an error, for custom checks.
    public init(_ code: Code, _ check: String, problem: String, remedy: String? = nil, systemCode: Int32? = nil) {
        self.code = code
        self.check = check
        self.problem = problem
        self.remedy = remedy
        self.systemCode = systemCode
    }
}

extension PresenceError: CustomStringConvertible {
    public var description: String {
        "the presence check (\(check)) \(problem)" + (remedy.map { "; \($0)" } ?? "")
    }
}
