/// Sends requests: through the interceptor chain, the signatures and the transport, and then back through the chain in reverse.
public struct NetworkProvider: Sendable {
    /// The configuration, fixed for the provider's lifetime.
    public let config: NetworkConfig
    private let session: any HTTPTransport
    let chain: InterceptorChain
    private let observer: Observer?
    private let limiter: (any RateLimiting)?
    let logger: (any NetworkLogger)?
    private let slots: DispatchSlots
    let budget: RetryBudget

    /// Receives each request as it is passed to the transport, credentials included: print only its
    /// ``HTTPRequest/redactedHead``.
    public typealias Observer = @Sendable (HTTPRequest) -> Void

    /// Creates a provider for routes.
    ///
    /// - Parameters:
    ///   - config: the environments of the services, and the settings for all requests.
    ///   - session: the transport.
    ///   - interceptor: an interceptor, or an ``InterceptorChain``.
    ///   - rateLimiter: asked before each attempt; by default a ``RateLimiter`` with the configuration's limit.
    ///   - logger: logs retries. If a plugin's scheme signs for a server with a clock that differs from this machine's, logs that
    ///     too.
    ///   - observer: receives each request as it is sent, for traces and tests.
    public init(
        config: NetworkConfig, session: any HTTPTransport = CurlSession(),
        interceptor: any RequestInterceptor = InterceptorChain([]), rateLimiter: (any RateLimiting)? = nil,
        logger: (any NetworkLogger)? = nil, observer: Observer? = nil
    ) {
        self.config = config
        self.session = session
        chain = InterceptorChain([interceptor])
        self.observer = observer
        self.logger = logger
        limiter = rateLimiter ?? config.rateLimit.map { RateLimiter($0) }
        slots = DispatchSlots(limit: config.maxConcurrentRequestsPerOrigin)
        budget = RetryBudget()
    }

    /// Shares everything with the original except the chain and the transport.
    private init(_ original: NetworkProvider, _ chain: InterceptorChain, _ session: any HTTPTransport) {
        config = original.config
        self.session = session
        self.chain = chain
        observer = original.observer
        limiter = original.limiter
        logger = original.logger
        slots = original.slots
        budget = original.budget
    }

    /// Creates a provider without services, for requests with absolute URLs.
    ///
    /// - Parameters:
    ///   - session: the transport.
    ///   - interceptor: an interceptor, or an ``InterceptorChain``.
    ///   - signer: the token that signs each attempt after the whole chain.
    ///   - logger: logs retries. If a plugin's scheme signs for a server with a clock that differs from this machine's, logs that
    ///     too.
    ///   - observer: receives each request as it is sent, for traces and tests.
    public init(
        session: any HTTPTransport, interceptor: any RequestInterceptor = InterceptorChain([]),
        signer: (any TokenModel)? = nil, logger: (any NetworkLogger)? = nil, observer: Observer? = nil
    ) {
        func signing(_ signer: some TokenModel) -> any RequestInterceptor { TokenInterceptor(signer, phase: .signature) }
        self.init(
            config: NetworkConfig(), session: session,
            interceptor: InterceptorChain([interceptor] + (signer.map { [signing($0)] } ?? [])), logger: logger,
            observer: observer)
    }

    /// Returns this provider with more interceptors or another transport, for example for one request. The returned provider
    /// shares this one's configuration, rate limit, slots for each origin and retry budget.
    ///
    /// ```swift
    /// let traced = provider.with(interceptors: [HeadersInterceptor(headers: ["X-Trace": trace])])
    /// ```
    ///
    /// - Parameters:
    ///   - interceptors: run before this provider's, and so before a token is added. Interceptors of the signature phase run
    ///     after all others.
    ///   - session: the transport; by default this provider's.
    public func with(
        interceptors: [any RequestInterceptor] = [], session: (any HTTPTransport)? = nil
    ) -> NetworkProvider {
        replacing(interceptors: interceptors + [chain], session: session)
    }

    /// Returns this provider with an interceptor that sees each request after all others have edited it.
    ///
    /// - Parameter last: an interceptor of the signature phase.
    func with(last: some RequestInterceptor) -> NetworkProvider {
        replacing(interceptors: [chain, last])
    }

    /// Returns this provider with these interceptors instead of its own.
    package func replacing(
        interceptors: [any RequestInterceptor], session: (any HTTPTransport)? = nil
    ) -> NetworkProvider {
        NetworkProvider(self, InterceptorChain(interceptors), session ?? self.session)
    }

    /// The transport.
    package var transport: any HTTPTransport { session }

    /// Sends a request, follows its redirects, and returns the response, whatever its status.
    ///
    /// - Parameters:
    ///   - request: the request. Edits by the chain are not kept in it.
    ///   - options: the options; nil for the configuration's.
    public func send(
        _ request: HTTPRequest, _ options: RequestOptions? = nil
    ) async throws(NetworkError) -> HTTPResponse {
        let options = options ?? RequestOptions(timeout: config.timeout)
        if !options.schemeParameters.isEmpty { try chain.check(options.schemeParameters) }
        budget.deposit()
        let deadline = Deadline(options.timeout)
        guard chain.mayBlock else {
            return try await onExecutor { () async throws(NetworkError) in
                try await finalResponse(to: request, options, deadline, nil)
            }
        }
        return try await RequestWork.run(on: session.executor, until: deadline.instant) { work throws(NetworkError) in
            try await finalResponse(to: request, options, deadline, work)
        }
    }

    /// Sends a request and follows its redirects.
    private func finalResponse(
        to request: HTTPRequest, _ options: RequestOptions, _ deadline: Deadline, _ work: RequestWork?
    ) async throws(NetworkError) -> HTTPResponse {
        var redirects = RedirectChain(options.chosenRedirects ?? config.redirects(for: request) ?? options.redirects)
        var signing = SigningClocks()
        var hop = request
        while true {
            let (sent, response) = try await response(
                to: hop, options, deadline, work, mayCarryCredentials: redirects.mayCarryCredentials, &signing)
            do throws(RedirectError) {
                guard case .follow(let next) = try redirects.next(after: response, to: hop, sent: sent) else {
                    return response
                }
                await drain(response)
                hop = next
            } catch {
                throw .redirect(error)
            }
        }
    }

    /// Sends one hop, with as many attempts as the chain and then the retry policy ask for. Each attempt starts from the caller's
    /// request, without the previous attempt's edits.
    private func response(
        to request: HTTPRequest, _ options: RequestOptions, _ deadline: Deadline, _ work: RequestWork?,
        mayCarryCredentials: Bool, _ signing: inout SigningClocks
    ) async throws(NetworkError) -> (sent: HTTPRequest, HTTPResponse) {
        var attempt = 1
        var bindings = CredentialBindings()
        bindings.signing = signing
        var retries = RetryState(options.retryPolicy ?? config.retryPolicy(for: request))
        while true {
            try work?.check()
            let slot = try await acquireSlot(at: request.origin, deadline)
            // Released explicitly: an interceptor, or a task it started, may still hold the exchange and with it the slot.
            defer { slot.release() }
            var transfer = options.transfer
            do { transfer.timeout = try deadline.remaining } catch { throw NetworkError(.deadlineExceeded) }
            bindings.signing.beginAttempt()
            var exchange = Exchange(
                request: request, options: transfer, schemeParameters: options.schemeParameters, attempt: attempt,
                mayCarryCredentials: mayCarryCredentials,
                deadline: deadline.instant, bindings: bindings, work: work,
                yieldSlot: { slot.yield(until: deadline.instant) })
            try await authorize(&exchange)
            try work?.check()
            do { try await RenewalContext.willSend(exchange.request) } catch { throw failure(error) }
            observer?(exchange.request)
            let start = exchange.bindings.signing.uptimeNow()
            let received = await send(exchange, deadline)
            // Done before the chain is asked: a challenge flow that it runs needs the server's time.
            if case .success(let response) = received {
                exchange.bindings.signing.learn(from: response, to: exchange.request.origin, sentAt: start, logger)
            }
            let outcome =
                chain.readsBodies
                ? await chain.read(received, decodesContent: session.decodesContent, &exchange) : received
            slot.release()
            await chain.observe(exchange, outcome)
            // The caller was cancelled and needs no further attempt.
            if case .failure(let error) = outcome, error.code == .cancelled { throw .cancelled }
            let shouldRetry = try await wantsNextAttempt(&exchange, &retries, after: outcome, deadline)
            signing = exchange.bindings.signing
            guard shouldRetry, mayMakeNextAttempt(after: attempt, retries), request.body.isReplayable else {
                do throws(TransportError) { return (exchange.request, try outcome.get()) } catch { throw NetworkError(error) }
            }
            attempt += 1
            bindings = exchange.bindings
        }
    }

    /// Reads the rest of a redirect's body if it is short, so that the connection can be reused.
    private func drain(_ response: HTTPResponse) async {
        _ = try? await response.body.collect(upTo: 16 << 10)
    }

    /// Returns the request as `send` would pass it to the transport on the first attempt, without sending it. A login may take as
    /// long as the person needs. The options' timeout limits each call of a plugin's function.
    public func authorize(
        _ request: HTTPRequest, _ options: RequestOptions = RequestOptions()
    ) async throws(NetworkError) -> HTTPRequest {
        guard chain.mayBlock else {
            return try await onExecutor { () async throws(NetworkError) in try await authorized(request, options, nil) }
        }
        // Without a deadline: the chain may have to wait for a person who logs in.
        return try await RequestWork.run(on: session.executor, until: nil, callLimit: options.timeout) {
            work throws(NetworkError) in
            try await authorized(request, options, work)
        }
    }

    private func authorized(
        _ request: HTTPRequest, _ options: RequestOptions, _ work: RequestWork?
    ) async throws(NetworkError) -> HTTPRequest {
        if !options.schemeParameters.isEmpty { try chain.check(options.schemeParameters) }
        var exchange = Exchange(
            request: request, options: options.transfer, schemeParameters: options.schemeParameters, work: work)
        try await authorize(&exchange)
        return exchange.request
    }

    /// Runs the chain, adds the transport's header lines, and signs the result.
    private func authorize(_ exchange: inout Exchange) async throws(NetworkError) {
        try await adapt(&exchange, with: chain.credentials)
        if !exchange.mayCarryCredentials { exchange.request.stripCredentials() }
        exchange.readsWholeBody = chain.readsBodies && chain.readsWholeBody(of: exchange)
        // Otherwise the transport would ask for a content coding, only to undo it.
        if exchange.readsWholeBody, session.decodesContent, !exchange.request.headers.contains("Accept-Encoding") {
            exchange.request.headers.add("Accept-Encoding", "identity", by: .host)
        }
        session.prepare(&exchange.request)
        guard exchange.mayCarryCredentials else { return }
        try await adapt(&exchange, with: chain.signatures)
        do throws(UnmetRequirementError) { try exchange.checkRequirement() } catch { throw .authorization(error) }
    }

    private func adapt(
        _ exchange: inout Exchange, with interceptors: [any RequestInterceptor]
    ) async throws(NetworkError) {
        guard !interceptors.isEmpty else { return }
        do {
            try await DispatchSlots.$isNested.withValue(true) { try await chain.adapt(&exchange, with: interceptors) }
        } catch {
            throw failure(error)
        }
    }

    /// Sends one attempt. The timeout is recomputed, because the chain may have taken long, for instance to renew a token.
    private func send(_ exchange: Exchange, _ deadline: Deadline) async -> Result<HTTPResponse, TransportError> {
        var options = exchange.options
        do { options.timeout = try deadline.remaining } catch { return .failure(.deadlineExceeded) }
        // The transport's timeout is later than the deadline, so that the work fails first: only the work can name the plugin's
        // call in progress.
        if exchange.work != nil, exchange.request.body.isWrapped { options.timeout? += .milliseconds(250) }
        if exchange.readsWholeBody { options.delivery = .streamed }
        if !exchange.mayCarryCredentials { options.sendsClientCertificate = false }
        do throws(TransportError) { return .success(try await session.send(exchange.request, options)) } catch {
            return .failure(error)
        }
    }

    func failure(_ error: any Error) -> NetworkError {
        switch error {
        case let error as NetworkError: error
        case is CancellationError: .cancelled
        case is DeadlineExceededError: NetworkError(.deadlineExceeded)
        case let failure as InterceptorError: .interceptor(failure.name, failure.underlying)
        default: .unknown(error)
        }
    }

    /// Waits for the rate limiter, and then for a slot: a request must not hold a slot while it waits for the rate limiter.
    private func acquireSlot(at origin: Origin, _ deadline: Deadline) async throws(NetworkError) -> DispatchSlot {
        do {
            if let limiter { try await deadline.bounding { try await limiter.acquire() } }
            return try await slots.acquire(for: origin, until: deadline.instant)
        } catch {
            throw failure(error)
        }
    }

    /// Runs `body` on the transport's executor, which avoids thread hops.
    private func onExecutor<Success: Sendable>(
        _ body: sending () async throws(NetworkError) -> Success
    ) async throws(NetworkError) -> Success {
        try await withTaskExecutorPreference(session.executor, operation: body)
    }
}
