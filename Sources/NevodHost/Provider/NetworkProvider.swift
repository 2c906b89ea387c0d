/// Sends requests on their way: chain, signature, transport, and back through the chain in reverse.
public struct NetworkProvider: Sendable {
    private let session: any HTTPTransport
    private let interceptor: any RequestInterceptor
    private let signer: (any TokenModel)?
    private let observer: Observer?

    /// Sees each request as it is handed to the transport: authorised, so print its ``HTTPRequest/redactedHead`` only.
    public typealias Observer = @Sendable (HTTPRequest) -> Void

    /// More attempts than this are a loop, whatever an interceptor says.
    private static let mostAttempts = 16

    /// - Parameters:
    ///   - signer: goes last, on every attempt, after the whole chain.
    public init(
        session: any HTTPTransport, interceptor: any RequestInterceptor = InterceptorChain([]),
        signer: (any TokenModel)? = nil, observer: Observer? = nil
    ) {
        self.session = session
        self.interceptor = interceptor
        self.signer = signer
        self.observer = observer
    }

    public func send(
        _ request: HTTPRequest, _ options: TransferOptions = TransferOptions()
    ) async throws(NetworkError) -> HTTPResponse {
        try await onExecutor { () async throws(NetworkError) in
            var redirects = RedirectChain(options.redirects)
            let limit = TimeLimit(options.timeout)
            var hop = request
            while true {
                let (sent, response) = try await answer(
                    to: hop, options, limit, carryingCredentials: redirects.mayCarryCredentials)
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

    /// One hop: as many attempts as the chain asks for.
    private func answer(
        to request: HTTPRequest, _ options: TransferOptions, _ limit: TimeLimit, carryingCredentials: Bool
    ) async throws(NetworkError) -> (sent: HTTPRequest, HTTPResponse) {
        var attempt = 1
        while true {
            var options = options
            do throws(TransportError) { options.timeout = try limit.remaining } catch { throw .transport(error) }
            var exchange = try await authorized(request, options, attempt, carryingCredentials)
            observer?(exchange.request)
            let outcome = await transfer(exchange)
            // Nobody waits for another attempt.
            if case .failure(let error) = outcome, error.code == .cancelled { throw .cancelled }
            let isLast = attempt == Self.mostAttempts || !request.body.isReplayable
            if !isLast, try await wantsRetry(&exchange, outcome) {
                attempt += 1
                continue
            }
            do throws(TransportError) { return (exchange.request, try outcome.get()) } catch {
                throw .transport(error)
            }
        }
    }

    /// A redirect's body is read to its end if that is near, so that the connection can be used again.
    private func drain(_ response: HTTPResponse) async {
        _ = try? await response.body.collect(upTo: 16 << 10)
    }

    /// The request as `send` would hand it to the transport on its first attempt. Sends nothing.
    public func authorize(
        _ request: HTTPRequest, _ options: TransferOptions = TransferOptions()
    ) async throws(NetworkError) -> HTTPRequest {
        try await onExecutor { () async throws(NetworkError) in
            try await authorized(request, options, 1, true).request
        }
    }

    /// Each attempt starts from the caller's request: what was written for the last one is gone.
    private func authorized(
        _ request: HTTPRequest, _ options: TransferOptions, _ attempt: Int, _ carryingCredentials: Bool
    ) async throws(NetworkError) -> Exchange {
        var exchange = Exchange(request: request, options: options, attempt: attempt)
        do { try await interceptor.adapt(&exchange) } catch { throw failure(of: interceptor, error) }
        if !carryingCredentials { exchange.request.stripCredentials() }
        session.prepare(&exchange.request)
        guard let signer, carryingCredentials else { return exchange }
        do { try await signer.authorize(&exchange) } catch let error as PluginError { throw .plugin(error) } catch {
            throw .authorization(error)
        }
        return exchange
    }

    private func transfer(_ exchange: Exchange) async -> Result<HTTPResponse, TransportError> {
        do throws(TransportError) { return .success(try await session.send(exchange.request, exchange.options)) } catch {
            return .failure(error)
        }
    }

    private func wantsRetry(
        _ exchange: inout Exchange, _ outcome: Result<HTTPResponse, TransportError>
    ) async throws(NetworkError) -> Bool {
        do { return try await interceptor.retry(&exchange, after: outcome) } catch {
            throw failure(of: interceptor, error)
        }
    }

    private func failure(of interceptor: any RequestInterceptor, _ error: any Error) -> NetworkError {
        let failure = InterceptorFailure(of: interceptor, error)
        if failure.underlying is CancellationError { return .cancelled }
        return .interceptor(failure.name, failure.underlying)
    }

    /// Where the transport works, so that the request's way needs no thread hop.
    private func onExecutor<Success: Sendable>(
        _ body: sending () async throws(NetworkError) -> Success
    ) async throws(NetworkError) -> Success {
        try await withTaskExecutorPreference(session.executor, operation: body)
    }
}

/// The time that a request has, with all its attempts and redirects: a server that drips them would stretch it without end.
private struct TimeLimit {
    private let deadline: ContinuousClock.Instant?

    init(_ timeout: Duration?) {
        // What no clock can reach is no limit.
        deadline = timeout.flatMap { $0 < .seconds(Int32.max) ? ContinuousClock.now + $0 : nil }
    }

    /// Nil: no limit.
    var remaining: Duration? {
        get throws(TransportError) {
            guard let deadline else { return nil }
            let rest = deadline - ContinuousClock.now
            guard rest > .zero else { throw TransportError(.timedOut, "its attempts and redirects took all of it", curlCode: 28) }
            return rest
        }
    }
}
