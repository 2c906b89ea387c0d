/// Several interceptors as one.
public struct InterceptorChain: RequestInterceptor {
    private let interceptors: [any RequestInterceptor]

    public init(_ interceptors: [any RequestInterceptor]) {
        self.interceptors = interceptors
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        for interceptor in interceptors { try await interceptor.adapt(&exchange) }
    }

    /// The first that wants a retry, from the last on, decides.
    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        for interceptor in interceptors.reversed() {
            if try await interceptor.retry(&exchange, after: outcome) { return true }
        }
        return false
    }
}
