/// Puts fixed headers on every request; those that a request already has stay.
public struct HeadersInterceptor: RequestInterceptor {
    private let headers: [String: String]

    public init(headers: [String: String]) {
        self.headers = headers
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        for (name, value) in headers where !exchange.request.headers.contains(name) {
            try exchange.request.setHeader(name, value)
        }
    }
}
