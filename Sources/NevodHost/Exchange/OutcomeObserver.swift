/// An interceptor that sees the outcome of every attempt and doesn't influence it. (`retry`, in contrast, is not called for the
/// rest of a chain once one interceptor wants a retry.)
///
/// ```swift
/// struct Counting: OutcomeObserver {
///     let failures: Counter
///     func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async {
///         if case .failure = outcome { failures.increment() }
///     }
/// }
/// ```
public protocol OutcomeObserver: RequestInterceptor {
    /// Called once for each attempt, after its response or failure. The exchange holds the request as it was sent.
    func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async
}
