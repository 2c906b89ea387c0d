/// Says when a request may start. A provider asks before each attempt.
///
/// ```swift
/// struct Unlimited: RateLimiting {
///     func acquire() async throws {}
/// }
/// ```
public protocol RateLimiting: Sendable {
    /// Returns when one request may start; throws `CancellationError` when the task is cancelled meanwhile.
    func acquire() async throws
}
