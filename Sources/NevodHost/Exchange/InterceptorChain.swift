/// Several interceptors as one: adapted first to last, asked for a retry last to first. Those that sign come after all others.
public struct InterceptorChain: RequestInterceptor {
    private let all: [any RequestInterceptor]
    let credentials: [any RequestInterceptor]
    let signatures: [any RequestInterceptor]
    private let observers: [any OutcomeObserver]

    /// - Parameter interceptors: chains among them count as what they hold.
    public init(_ interceptors: [any RequestInterceptor]) {
        let flat = interceptors.flatMap { ($0 as? InterceptorChain)?.all ?? [$0] }
        credentials = flat.filter { $0.phase == .credential }
        signatures = flat.filter { $0.phase == .signature }
        all = credentials + signatures
        observers = all.reversed().compactMap { $0 as? any OutcomeObserver }
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        try await adapt(&exchange, with: all)
    }

    func adapt(_ exchange: inout Exchange, with interceptors: [any RequestInterceptor]) async throws {
        for interceptor in interceptors {
            do { try await interceptor.adapt(&exchange) } catch { throw InterceptorError.naming(interceptor, error) }
        }
    }

    /// The first that wants a retry, from the last on, decides.
    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        for interceptor in all.reversed() {
            do {
                if try await interceptor.retry(&exchange, after: outcome) { return true }
            } catch {
                throw InterceptorError.naming(interceptor, error)
            }
        }
        return false
    }

    func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async {
        for observer in observers { await observer.observe(exchange, outcome) }
    }
}

/// Which interceptor failed.
struct InterceptorError: Error {
    let name: String
    let underlying: any Error

    /// The error with its culprit's name. One that says by itself what is wrong, and cancellation, have none.
    static func naming(_ interceptor: any RequestInterceptor, _ error: any Error) -> any Error {
        switch error {
        case is CancellationError, is DeadlineExceededError, is NetworkError, is InterceptorError: error
        default: InterceptorError(name: "\(type(of: interceptor))", underlying: error)
        }
    }
}
