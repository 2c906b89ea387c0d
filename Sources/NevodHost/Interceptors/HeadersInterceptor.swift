/// Puts fixed headers on every request; those that a request already has stay.
public struct HeadersInterceptor: RequestInterceptor {
    /// By name: a dictionary's order changes from run to run, and a signature may depend on it.
    private let headers: [(key: String, value: String)]

    /// - Parameter headers: values by name, written in the order of the names. A name or value that HTTP forbids (RFC 9110 §5)
    ///   fails the request.
    public init(headers: [String: String]) {
        self.headers = headers.sorted { $0.key < $1.key }
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        for (name, value) in headers where !exchange.request.headers.contains(name) {
            try exchange.request.setHeader(name, value)
        }
    }
}
