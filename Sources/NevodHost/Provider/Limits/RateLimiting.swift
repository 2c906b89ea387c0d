/// Decides when a request may start. A provider calls it before each attempt.
///
/// ```swift
/// struct Unlimited: RateLimiting {
///     func acquire() async throws {}
/// }
/// ```
public protocol RateLimiting: Sendable {
    /// Waits until one request may start. Throws `CancellationError` if the task is cancelled meanwhile.
    func acquire() async throws
}
