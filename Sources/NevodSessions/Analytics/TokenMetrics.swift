/// Receives what happens to tokens, one event at a time, for an app's own statistics. (``TokenAnalytics``, in contrast, is a receiver
/// that adds the events up.)
///
/// ```swift
/// struct Printing: TokenMetrics {
///     func refreshFinished(_ event: TokenRefreshEvent) { print("refresh", event.duration) }
///     func requestFinished(_ event: TokenRequestEvent) { print(event.route, event.outcome) }
/// }
/// let analytics = TokenAnalytics(forwardingTo: [Printing()])
/// ```
///
/// No event has a token. Its methods are called in the request's or the renewal's own task, so they must return soon, and concurrently.
public protocol TokenMetrics: Sendable {
    /// Called once for each renewal, after it has succeeded or failed.
    func refreshFinished(_ event: TokenRefreshEvent)

    /// Called once for each attempt of a request that carried a token, after its response or failure.
    func requestFinished(_ event: TokenRequestEvent)
}
