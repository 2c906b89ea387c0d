/// An interceptor that sees what came of every attempt and has no say in what becomes of it. (`retry`, in contrast, is asked
/// only until somebody wants another attempt.)
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
    /// Once for each attempt, after its answer or failure. The exchange holds the request as it was sent.
    func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async
}
