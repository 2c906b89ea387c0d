/// Changes a request before it is sent, and decides whether its outcome calls for a retry. (A transport, in contrast, sends a
/// request and changes nothing.)
///
/// You can write an interceptor against the exchange, which has the attempt's number and records the provenance of edits:
///
/// ```swift
/// struct Tracing: RequestInterceptor {
///     func adapt(_ exchange: inout Exchange) async throws {
///         try exchange.request.setHeader("X-Attempt", String(exchange.attempt))
///     }
/// }
/// ```
///
/// Or write it against a plain request: an ``HTTPRequest``, or another library's type, such as Foundation's `URLRequest`. All
/// four methods have defaults.
public protocol RequestInterceptor: Sendable {
    /// The type of request that this interceptor is written against.
    associatedtype Request: RequestRepresentation = HTTPRequest

    /// The phase in which the interceptor runs. An interceptor that must see the request as it will be sent returns
    /// ``TokenPhase/signature``, and then runs after all others, regardless of its position in a chain.
    var phase: TokenPhase { get }

    /// Whether the interceptor may block its thread, for instance in a plugin or a C library. A request with such an interceptor
    /// ends at its timeout, or when it is cancelled, even while the interceptor blocks. This costs an extra task for each such
    /// request. An interceptor that wraps another one returns the other's value. False by default.
    ///
    /// Waiting with `await` doesn't block.
    var mayBlock: Bool { get }

    /// Whether `adapt` and `retry` read the request's body. Matters only if they are written against another library's request,
    /// which can't hold a stream; see ``TokenModel/readsBody``. True by default.
    var readsBody: Bool { get }

    /// The requirements of routes that the interceptor's credential meets; empty (the default) if it writes no credential. A
    /// chain skips the interceptor for each request whose route needs another credential, or none. An interceptor that wraps
    /// another one returns the other's value.
    var provides: Set<AuthRequirement> { get }

    /// Changes the request before each attempt. A chain calls its interceptors first to last.
    func adapt(_ exchange: inout Exchange) async throws

    /// Returns true to send the request again; called after every response and failure. A chain calls its interceptors last to
    /// first. A request whose body isn't replayable is never sent again.
    func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool

    /// Returns the changed request; for interceptors that don't need the exchange.
    func adapt(_ request: Request) async throws -> Request

    /// Returns true to send the request again; for interceptors that don't need the exchange. Called after a failure, and after a
    /// response with status 400 or higher.
    ///
    /// - Parameters:
    ///   - request: the request as it was sent.
    ///   - response: the response; nil if there was none, or if the other library can't represent it.
    ///   - error: the failure, or the status as an error.
    func retry(_ request: Request, response: Request.Response?, error: NetworkError) async throws -> Bool
}

/// For interceptors written against the native request, which needs no conversion.
extension RequestInterceptor where Request == HTTPRequest {
    public func adapt(_ exchange: inout Exchange) async throws {
        exchange.request = try await adapt(exchange.request)
    }
}

extension RequestInterceptor {
    public var phase: TokenPhase { .credential }

    public var mayBlock: Bool { false }

    public var provides: Set<AuthRequirement> { [] }

    public var readsBody: Bool { true }

    public func adapt(_ exchange: inout Exchange) async throws {
        let body = Request.holdsStreams ? .asItIs : try await shownBody(of: exchange)
        let shaped = try await Exchange.$current.withValue(exchange) { try await adapt(body.shape(exchange.request)) }
        try body.write(shaped, to: &exchange.request)
    }

    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        guard let error = NetworkError(outcome) else { return false }
        let response = (try? outcome.get()).flatMap { Request.response($0, to: exchange.request) }
        let body = Request.holdsStreams ? .asItIs : try await shownBody(of: exchange)
        return try await Exchange.$current.withValue(exchange) {
            try await retry(body.shape(exchange.request), response: response, error: error)
        }
    }

    private func shownBody(of exchange: Exchange) async throws -> ShownBody {
        try await ShownBody(of: exchange.request, as: Request.self, readsBody: readsBody, by: "\(Self.self)")
    }

    public func adapt(_ request: Request) async throws -> Request { request }

    public func retry(_ request: Request, response: Request.Response?, error: NetworkError) async throws -> Bool { false }
}

extension RequestInterceptor {
    /// Returns the request as the interceptor changes it, outside a provider. The interceptor knows nothing of earlier attempts, or
    /// of tokens that the request carried.
    package func adapted(_ request: HTTPRequest, attempt: Int) async throws -> HTTPRequest {
        var exchange = Exchange(request: request, options: TransferOptions(), attempt: attempt)
        try await adapt(&exchange)
        return exchange.request
    }
}

/// When a token is put on a request.
public enum TokenPhase: Sendable {
    /// At the interceptor's position in the chain.
    case credential
    /// After the whole chain, on every attempt, so that no interceptor can change what was signed.
    case signature
}

/// An interceptor that records in the exchange when it has provided a credential. (For other interceptors, the chain does that.)
protocol CredentialInterceptor: RequestInterceptor {}

/// An interceptor that sees the outcome of every attempt and doesn't influence it. (`retry`, in contrast, is not called for the
/// rest of a chain once one interceptor wants a retry.)
///
/// ```swift
/// struct Counting: OutcomeObserver {
///     let failures: Counter
///     func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async {
///         if case .failure = outcome { failures.increment() }
///     }
/// }
/// ```
public protocol OutcomeObserver: RequestInterceptor {
    /// Called once for each attempt, after its response or failure. The exchange holds the request as it was sent.
    func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async
}

/// An interceptor that reads the bodies of responses, to check them or to learn from them, before the caller does. (An
/// ``OutcomeObserver``, in contrast, sees only what the caller gets.)
protocol ResponseReader: RequestInterceptor {
    /// Whether it reads any bodies. Fixed for the interceptor's lifetime.
    var readsBodies: Bool { get }

    /// Whether it needs every byte of the response to this request as received. The response is then received as a stream,
    /// whatever delivery the caller asked for, and the transport asks for no content coding.
    func readsWholeBody(of exchange: Exchange) -> Bool

    /// Returns the response with a body that is read through this interceptor. Called after each response, before `retry`.
    ///
    /// - Parameters:
    ///   - isDecoded: whether the transport has decoded a content coding of the body.
    ///   - exchange: keeps what `retry` needs.
    func read(
        _ response: HTTPResponse, isDecoded: Bool, _ exchange: inout Exchange
    ) async throws(TransportError) -> HTTPResponse
}
