/// Sends requests on their way: chain, signature, transport, and back through the chain in reverse.
public struct NetworkProvider: Sendable {
    /// Fixed for the provider's life; another configuration is another provider.
    public let config: NetworkConfig
    private let session: any HTTPTransport
    private let chain: InterceptorChain
    private let observer: Observer?
    private let limiter: (any RateLimiting)?
    private let logger: (any NetworkLogger)?
    private let slots: DispatchSlots
    private let budget = RetryBudget()

    /// Sees each request as it is handed to the transport: authorised, so print its ``HTTPRequest/redactedHead`` only.
    public typealias Observer = @Sendable (HTTPRequest) -> Void

    /// Limits the attempts that interceptors ask for: more are a loop. Retries of the policy are limited by the policy.
    private static let mostAttempts = 16

    /// - Parameters:
    ///   - config: where the services are, and what holds for every request.
    ///   - session: sends what the chain has made of a request.
    ///   - interceptor: one, or an ``InterceptorChain``.
    ///   - rateLimiter: asked before each attempt; by default one of the configuration's limit.
    ///   - logger: is told when a request is sent again, and why.
    ///   - observer: sees each request as it is sent; for traces and tests.
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
    }

    /// Without services: for requests with absolute URLs.
    ///
    /// - Parameters:
    ///   - session: sends what the chain has made of a request.
    ///   - interceptor: one, or an ``InterceptorChain``.
    ///   - signer: goes last, on every attempt, after the whole chain.
    ///   - logger: is told when a request is sent again, and why.
    ///   - observer: sees each request as it is sent; for traces and tests.
    public init(
        session: any HTTPTransport, interceptor: any RequestInterceptor = InterceptorChain([]),
        signer: (any TokenModel)? = nil, logger: (any NetworkLogger)? = nil, observer: Observer? = nil
    ) {
        func last(_ signer: some TokenModel) -> any RequestInterceptor { TokenInterceptor(signer, phase: .signature) }
        self.init(
            config: NetworkConfig(), session: session,
            interceptor: InterceptorChain([interceptor] + (signer.map { [last($0)] } ?? [])), logger: logger,
            observer: observer)
    }

    /// One request with all its redirects. An answer of any status is an answer.
    ///
    /// - Parameters:
    ///   - request: with an absolute URL; whatever the chain writes is not kept in it.
    ///   - options: nil: the configuration's.
    public func send(
        _ request: HTTPRequest, _ options: RequestOptions? = nil
    ) async throws(NetworkError) -> HTTPResponse {
        let options = options ?? RequestOptions(timeout: config.timeout)
        budget.deposit()
        return try await onExecutor { () async throws(NetworkError) in
            var redirects = RedirectChain(options.redirects)
            let deadline = Deadline(options.timeout)
            var hop = request
            while true {
                let (sent, response) = try await answer(
                    to: hop, options, deadline, carryingCredentials: redirects.mayCarryCredentials)
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
    }

    /// One hop: as many attempts as the chain, and then the policy, ask for. Each starts from the caller's request: what was
    /// written for the last one is gone.
    private func answer(
        to request: HTTPRequest, _ options: RequestOptions, _ deadline: Deadline, carryingCredentials: Bool
    ) async throws(NetworkError) -> (sent: HTTPRequest, HTTPResponse) {
        var attempt = 1
        var bindings = CredentialBindings()
        var retries = RetryState(options.retryPolicy ?? config.retryPolicy)
        while true {
            let slot = try await acquireSlot(at: request.origin, deadline)
            // Not left to the last reference: an interceptor may have kept the exchange, or a task that it began has.
            defer { slot.release() }
            var transfer = options.transfer
            do { transfer.timeout = try deadline.remaining } catch { throw NetworkError(.outOfTime) }
            var exchange = Exchange(
                request: request, options: transfer, attempt: attempt, mayCarryCredentials: carryingCredentials,
                deadline: deadline.instant, bindings: bindings,
                yieldSlot: { slot.yield(until: deadline.instant) })
            try await authorize(&exchange)
            observer?(exchange.request)
            let outcome = await send(exchange, deadline)
            slot.release()
            await chain.observe(exchange, outcome)
            // Nobody waits for another attempt.
            if case .failure(let error) = outcome, error.code == .cancelled { throw .cancelled }
            var isRepeated = try await wantsRetry(&exchange, outcome)
            if !isRepeated { isRepeated = try await waitBeforeRetry(&retries, exchange, outcome, deadline) }
            guard isRepeated, attempt - retries.attempts < Self.mostAttempts, request.body.isReplayable else {
                do throws(TransportError) { return (exchange.request, try outcome.get()) } catch { throw NetworkError(error) }
            }
            attempt += 1
            bindings = exchange.bindings
        }
    }

    /// - Returns: whether the policy allows a retry, after the wait that it asks for.
    private func waitBeforeRetry(
        _ retries: inout RetryState, _ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>,
        _ deadline: Deadline
    ) async throws(NetworkError) -> Bool {
        var random = SystemRandomNumberGenerator()
        let decision = retries.next(after: outcome, of: exchange.request, random: &random, now: HostClock.system.now)
        // An attempt after the request's time would only turn its answer into a time-out. Only one that is made is paid for.
        guard case .wait(let pause) = decision, deadline.allows(pause), retries.isBudgeted ? budget.withdraw() : true
        else { return false }
        logger?.notice(
            retries.notice(of: outcome, pause: pause),
            ["request": "\(exchange.request)", "attempt": "\(exchange.attempt + 1)", "after": "\(pause)"])
        do { try await Task.sleep(for: pause) } catch { throw .cancelled }
        return true
    }

    /// A redirect's body is read to its end if that is near, so that the connection can be used again.
    private func drain(_ response: HTTPResponse) async {
        _ = try? await response.body.collect(upTo: 16 << 10)
    }

    /// The request as `send` would hand it to the transport on its first attempt. Sends nothing.
    public func authorize(
        _ request: HTTPRequest, _ options: RequestOptions = RequestOptions()
    ) async throws(NetworkError) -> HTTPRequest {
        try await onExecutor { () async throws(NetworkError) in
            var exchange = Exchange(request: request, options: options.transfer)
            try await authorize(&exchange)
            return exchange.request
        }
    }

    /// The chain, what the transport adds, and the signatures on all that.
    private func authorize(_ exchange: inout Exchange) async throws(NetworkError) {
        try await adapt(&exchange, with: chain.credentials)
        if !exchange.mayCarryCredentials { exchange.request.stripCredentials() }
        session.prepare(&exchange.request)
        guard exchange.mayCarryCredentials else { return }
        try await adapt(&exchange, with: chain.signatures)
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

    /// The chain may have taken long, above all where a token was renewed: only the rest of the time is the transport's.
    private func send(_ exchange: Exchange, _ deadline: Deadline) async -> Result<HTTPResponse, TransportError> {
        var options = exchange.options
        do { options.timeout = try deadline.remaining } catch { return .failure(.outOfTime) }
        do throws(TransportError) { return .success(try await session.send(exchange.request, options)) } catch {
            return .failure(error)
        }
    }

    private func wantsRetry(
        _ exchange: inout Exchange, _ outcome: Result<HTTPResponse, TransportError>
    ) async throws(NetworkError) -> Bool {
        do {
            return try await DispatchSlots.$isNested.withValue(true) { try await chain.retry(&exchange, after: outcome) }
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: any Error) -> NetworkError {
        switch error {
        case let error as NetworkError: error
        case is CancellationError: .cancelled
        case is DeadlineExceededError: NetworkError(.outOfTime)
        case let failure as InterceptorError: .interceptor(failure.name, failure.underlying)
        default: .unknown(error)
        }
    }

    /// Waits for the rate limit first, without a slot.
    private func acquireSlot(at origin: Origin, _ deadline: Deadline) async throws(NetworkError) -> DispatchSlot {
        do {
            if let limiter { try await deadline.bounding { try await limiter.acquire() } }
            return try await slots.acquire(for: origin, until: deadline.instant)
        } catch {
            throw failure(error)
        }
    }

    /// Where the transport works, so that the request's way needs no thread hop.
    private func onExecutor<Success: Sendable>(
        _ body: sending () async throws(NetworkError) -> Success
    ) async throws(NetworkError) -> Success {
        try await withTaskExecutorPreference(session.executor, operation: body)
    }
}
