/// Several interceptors as one.
public struct InterceptorChain: RequestInterceptor {
    private let interceptors: [any RequestInterceptor]

    public init(_ interceptors: [any RequestInterceptor]) {
        self.interceptors = interceptors
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        for interceptor in interceptors {
            do { try await interceptor.adapt(&exchange) } catch { throw InterceptorFailure.naming(interceptor, error) }
        }
    }

    /// The first that wants a retry, from the last on, decides.
    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        for interceptor in interceptors.reversed() {
            do {
                if try await interceptor.retry(&exchange, after: outcome) { return true }
            } catch {
                throw InterceptorFailure.naming(interceptor, error)
            }
        }
        return false
    }
}

/// Which interceptor failed; of nested chains the innermost.
struct InterceptorFailure: Error {
    let name: String
    let underlying: any Error

    /// The error with its culprit's name; cancellation has none.
    static func naming(_ interceptor: any RequestInterceptor, _ error: any Error) -> any Error {
        error is CancellationError ? error : InterceptorFailure(of: interceptor, error)
    }

    init(of interceptor: any RequestInterceptor, _ error: any Error) {
        if let inner = error as? InterceptorFailure {
            self = inner
        } else {
            name = "\(type(of: interceptor))"
            underlying = error
        }
    }
}
