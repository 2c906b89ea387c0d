extension RequestInterceptor {
    /// Returns this interceptor for the requests that a filter selects. Other requests are sent without it.
    ///
    /// ```swift
    /// let key = HeadersInterceptor(headers: ["X-Partner-Key": key]).limited(to: .domains(Service.partner))
    /// ```
    ///
    /// For a chain, each of its interceptors is limited.
    public func limited(to filter: RequestFilter) -> InterceptorChain {
        InterceptorChain((self as? InterceptorChain ?? InterceptorChain([self])).all.map { LimitedInterceptor($0, filter) })
    }

    /// Returns this interceptor for requests to these origins. A request to any other one fails with
    /// ``NetworkError/authorization(_:)`` and an ``OriginScopeError`` before it is sent, unless its route needs another credential.
    ///
    /// A redirect to another origin is no error, since the server chose it: the credential is left out, as always (RFC 6454).
    public func bound(to scope: OriginScope) -> InterceptorChain {
        InterceptorChain(
            (self as? InterceptorChain ?? InterceptorChain([self])).all.map {
                LimitedInterceptor($0, .origins(scope), scope: scope)
            })
    }
}
