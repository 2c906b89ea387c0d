internal import NevodHost

/// The changes that middleware makes to the sending of one request.
struct RequestPlan {
    var interceptors: [any RequestInterceptor] = []
    /// Nil for the client's.
    var session: (any HTTPTransport)?
    /// Applied to the session, first to last.
    var wrappers: [@Sendable (any HTTPTransport) -> any HTTPTransport] = []
    var options: RequestOptions

    init(_ middleware: [RequestMiddleware], session: (any HTTPTransport)?, options: RequestOptions) {
        self.session = session
        self.options = options
        for part in middleware { part.apply(&self) }
    }

    /// Returns a provider that sends the request as planned.
    func provider(from provider: NetworkProvider) -> NetworkProvider {
        guard !interceptors.isEmpty || session != nil || !wrappers.isEmpty else { return provider }
        let transport = wrappers.reduce(session ?? provider.transport) { $1($0) }
        return provider.with(interceptors: interceptors, session: transport)
    }
}
