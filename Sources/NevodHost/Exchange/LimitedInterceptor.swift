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

    /// Returns this interceptor for requests to these origins. A request to any other origin fails with
    /// ``NetworkError/authorization(_:)`` and an ``OriginScopeError`` before it is sent, unless its route needs another
    /// credential.
    ///
    /// A redirect to another origin doesn't fail, because the server chose it. It is followed without the credential, as always
    /// (RFC 6454).
    public func bound(to scope: OriginScope) -> InterceptorChain {
        InterceptorChain(
            (self as? InterceptorChain ?? InterceptorChain([self])).all.map {
                LimitedInterceptor($0, .origins(scope), scope: scope)
            })
    }
}

/// An interceptor that runs only for some requests; see ``RequestInterceptor/limited(to:)`` and ``RequestInterceptor/bound(to:)``.
struct LimitedInterceptor: CredentialInterceptor {
    let base: any RequestInterceptor
    private let filter: RequestFilter
    /// If set, a request to any other origin fails. Otherwise it is sent without the interceptor.
    private let scope: OriginScope?

    var phase: TokenPhase { base.phase }
    var mayBlock: Bool { base.mayBlock }
    var readsBody: Bool { base.readsBody }
    var provides: Set<AuthRequirement> { base.provides }

    init(_ base: any RequestInterceptor, _ filter: RequestFilter, scope: OriginScope? = nil) {
        self.base = base
        self.filter = filter
        self.scope = scope
    }

    /// The name of the innermost interceptor's type.
    var name: String { (base as? LimitedInterceptor)?.name ?? "\(type(of: base))" }

    func selects(_ exchange: Exchange) -> Bool { filter.matches(exchange.request) }

    func adapt(_ exchange: inout Exchange) async throws {
        guard selects(exchange) else { return try refuse(exchange) }
        do { try await base.adapt(&exchange) } catch { throw InterceptorError.naming(base, error) }
        guard let route = exchange.request.route, !(base is any CredentialInterceptor) else { return }
        // Recorded here, because the chain can't tell whether the limited interceptor has run.
        if route.auth != .automatic, base.provides.contains(route.auth) { exchange.hasCredential = true }
    }

    func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        guard selects(exchange) else { return false }
        do { return try await base.retry(&exchange, after: outcome) } catch { throw InterceptorError.naming(base, error) }
    }

    /// Fails a request outside the scope. A redirect to another origin doesn't fail: the server chose that URL, not the caller.
    private func refuse(_ exchange: Exchange) throws(NetworkError) {
        guard let scope, exchange.mayCarryCredentials else { return }
        do { try scope.check(exchange.request.origin, for: name) } catch { throw .authorization(error) }
    }
}

extension LimitedInterceptor: ParameterTaking {
    var parameterDeclaring: (any ParameterDeclaring)? { (base as? any ParameterTaking)?.parameterDeclaring }
}

/// Shows an observer only the requests that its limit selects.
struct LimitedObserver: OutcomeObserver {
    private let limited: LimitedInterceptor
    private let observer: any OutcomeObserver

    /// Returns nil if the interceptor is not a limited observer.
    init?(_ interceptor: any RequestInterceptor) {
        guard let limited = interceptor as? LimitedInterceptor,
            let observer = LimitedObserver(limited.base) ?? limited.base as? any OutcomeObserver
        else { return nil }
        self.limited = limited
        self.observer = observer
    }

    func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async {
        if limited.selects(exchange) { await observer.observe(exchange, outcome) }
    }
}

/// Shows a reader only the responses to requests that its limit selects.
struct LimitedReader: ResponseReader {
    private let limited: LimitedInterceptor
    private let reader: any ResponseReader

    var readsBodies: Bool { reader.readsBodies }

    /// Returns nil if the interceptor is not a limited reader.
    init?(_ interceptor: any RequestInterceptor) {
        guard let limited = interceptor as? LimitedInterceptor,
            let reader = LimitedReader(limited.base) ?? limited.base as? any ResponseReader
        else { return nil }
        self.limited = limited
        self.reader = reader
    }

    func readsWholeBody(of exchange: Exchange) -> Bool { limited.selects(exchange) && reader.readsWholeBody(of: exchange) }

    func read(
        _ response: HTTPResponse, isDecoded: Bool, _ exchange: inout Exchange
    ) async throws(TransportError) -> HTTPResponse {
        limited.selects(exchange) ? try await reader.read(response, isDecoded: isDecoded, &exchange) : response
    }
}
