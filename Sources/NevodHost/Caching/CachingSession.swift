/// A transport that answers from memory what it may (RFC 9111), and asks the one below for the rest. A private cache: it
/// serves the users of one process, and never one user's answer to another's request.
///
/// ```swift
/// let provider = NetworkProvider(config: config, session: CachingSession(CurlSession()))
/// ```
///
/// Answers are kept apart by origin, by everything that a token or scheme wrote on the request, and by every line whose name
/// is a credential's (Authorization, Cookie, X-API-Key and the like). Of these the cache keeps a keyed digest only. A
/// signature that differs from request to request therefore never meets a stored answer; nor does a renewed token.
///
/// - Stored are complete answers to GET, up to a size. A HEAD is answered from them. Nothing else is: no parts (Range), no
///   requests with a condition of their own, which pass through unchanged, as do answers delivered `.streamed`.
/// - An answer with Set-Cookie is stored only if it says `public`, and without the cookie.
/// - Stale answers are served where `max-stale` or `stale-if-error` (RFC 5861) allows. `stale-while-revalidate` is not
///   followed: there is nobody to do the work in the background.
/// - Equal requests at one time all go out: they aren't collapsed into one.
/// - A validator (If-None-Match, If-Modified-Since) is added below the signatures, which don't cover it.
/// - ``TransferOptions/onMetrics`` is called for transfers, so not for an answer from memory.
public final class CachingSession: HTTPTransport {
    private let base: any HTTPTransport
    private let store: InMemoryCache
    private let clock: HostClock

    /// - Parameters:
    ///   - base: asked for whatever memory can't answer; its lines are signed, and its executor used.
    ///   - store: where answers are kept; one of its own unless told otherwise.
    ///   - clock: what the ages of answers are measured by.
    public init(_ base: any HTTPTransport, store: InMemoryCache = InMemoryCache(), clock: HostClock = .system) {
        self.base = base
        self.store = store
        self.clock = clock
    }

    public var executor: (any TaskExecutor)? { base.executor }

    public func prepare(_ request: inout HTTPRequest) {
        base.prepare(&request)
    }

    /// - Throws: what the transport below throws; `bodyTooLarge` also for a stored answer.
    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        // The parts return results: with an early `return try await` here, Swift 6.3 frees the task's memory in the wrong order
        // ("freed pointer was not the last allocation").
        let outcome =
            if request.method == .get || request.method == .head {
                await read(request, options)
            } else {
                await change(request, options)
            }
        return try outcome.get()
    }

    private func read(_ request: HTTPRequest, _ options: TransferOptions) async -> Result<HTTPResponse, TransportError> {
        let policy = CachePolicy(request)
        // Vary is about what is sent.
        var prepared = request
        base.prepare(&prepared)
        guard case .collected(let limit) = options.delivery, CachePolicy.concerns(request), let key = CacheKey(prepared) else {
            return policy.onlyIfCached ? .success(.notCached) : await transfer(request, options)
        }
        let entry = store.entry(for: key, prepared)
        var exchange = CacheExchange(prepared, policy, stored: entry?.response, limit: limit)
        var action = exchange.start(at: clock.now)
        if case .finish(let result, _) = action { return result }

        let flight = store.begin(key)
        while true {
            switch action {
            case .send(let outgoing):
                let requestedAt = clock.now
                let outcome = await transfer(outgoing, options)
                action = exchange.receive(outcome, requestedAt: requestedAt, at: clock.now)
            case .finish(let result, let change):
                store.end(flight, change, for: key, prepared, replacing: entry)
                return result
            }
        }
    }

    private func transfer(_ request: HTTPRequest, _ options: TransferOptions) async -> Result<HTTPResponse, TransportError> {
        do throws(TransportError) { return .success(try await base.send(request, options)) } catch { return .failure(error) }
    }

    /// A method that may change the resource ends what is stored of it (RFC 9111 §4.4); an answer that is an error says that
    /// it didn't. When none came, nobody knows.
    private func change(_ request: HTTPRequest, _ options: TransferOptions) async -> Result<HTTPResponse, TransportError> {
        let outcome = await transfer(request, options)
        if !request.method.isSafe { store.invalidate(Self.changed(by: request, outcome)) }
        return outcome
    }

    /// The target, and what the answer names beside it, as long as it is of the same origin.
    private static func changed(
        by request: HTTPRequest, _ outcome: Result<HTTPResponse, TransportError>
    ) -> [KeyedDigest] {
        var changed = [CacheKey.resource(of: request)]
        if case .success(let response) = outcome {
            guard (200..<400).contains(response.status) else { return [] }
            for name in ["Location", "Content-Location"] {
                guard let text = response.headers[name] else { continue }
                changed.append(resource(named: text, by: request))
            }
        }
        return changed.compactMap(\.self)
    }

    private static func resource(named text: String, by request: HTTPRequest) -> KeyedDigest? {
        var named = request
        let url = request.resolving(text)
        do throws(InvalidRequestError) { try named.redirect(to: url, leavingOut: request.credentialQueryItems) } catch {
            return nil
        }
        return named.origin == request.origin ? CacheKey.resource(of: named) : nil
    }
}

extension HTTPMethod {
    /// RFC 9110 §9.2.1. A method that we don't know may change anything.
    fileprivate var isSafe: Bool {
        self == .get || self == .head || self == .options || rawValue == "TRACE"
    }
}
