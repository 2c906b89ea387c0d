extension RequestInterceptor {
    /// Returns the request that the interceptor makes of another one, outside a provider. It knows of no earlier attempt, and of
    /// no token that the request carried.
    package func adapted(_ request: HTTPRequest, attempt: Int) async throws -> HTTPRequest {
        var exchange = Exchange(request: request, options: TransferOptions(), attempt: attempt)
        try await adapt(&exchange)
        return exchange.request
    }
}
