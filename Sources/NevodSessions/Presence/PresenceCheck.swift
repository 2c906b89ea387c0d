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
