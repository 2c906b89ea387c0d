/// One request on its way through the cache: a state machine without I/O. The shell does what it says, and tells it what
/// came of it.
struct CacheExchange: Sendable {
    enum Action: Sendable {
        case send(HTTPRequest)
        case finish(Result<HTTPResponse, TransportError>, Change)
    }

    /// What becomes of the stored answer that the exchange began with.
    enum Change: Sendable {
        case none
        case store(StoredResponse)
        case remove
    }

    private let request: HTTPRequest
    private let policy: CachePolicy
    private let limit: Int
    private var stored: StoredResponse?
    private var isValidating = false
    /// The stored answer turned out to be another than the server's, and nothing has replaced it yet.
    private var isDisowned = false

    /// - Parameters:
    ///   - stored: the answer that the request selects (RFC 9111 §4).
    ///   - limit: of the body, in bytes; a longer one fails, as it does from the network.
    init(_ request: HTTPRequest, _ policy: CachePolicy, stored: StoredResponse?, limit: Int) {
        self.request = request
        self.policy = policy
        self.stored = stored
        self.limit = limit
    }

    mutating func start(at now: UnixTime) -> Action {
        if let stored, policy.mayServe(stored, at: now) { return .finish(answer(stored.answer(at: now)), .none) }
        // RFC 9111 §5.2.1.7
        guard !policy.onlyIfCached else { return .finish(.success(.notCached), .none) }
        var outgoing = request
        if let stored, stored.hasValidator, request.method == .get {
            stored.addValidators(to: &outgoing)
            isValidating = true
        }
        return .send(outgoing)
    }

    /// - Parameters:
    ///   - requestedAt: when the request was sent that this is the outcome of.
    mutating func receive(
        _ outcome: Result<HTTPResponse, TransportError>, requestedAt: UnixTime, at now: UnixTime
    ) -> Action {
        switch outcome {
        case .failure(let error):
            return .finish(error.isOutage ? stale(at: now) ?? outcome : outcome, isDisowned ? .remove : .none)
        case .success(let response) where response.status == 304 && isValidating:
            return confirm(response, requestedAt: requestedAt, at: now)
        case .success(let response):
            // RFC 5861 §4 names these four.
            if [500, 502, 503, 504].contains(response.status), let stale = stale(at: now) { return .finish(stale, .none) }
            return .finish(outcome, change(for: response, requestedAt: requestedAt, at: now))
        }
    }

    /// RFC 9111 §4.3.3, §4.3.4.
    private mutating func confirm(_ response: HTTPResponse, requestedAt: UnixTime, at now: UnixTime) -> Action {
        isValidating = false
        guard let stored, stored.isConfirmed(by: response) else {
            // It is about an answer that we don't have: ask again, for the whole.
            stored = nil
            isDisowned = true
            return .send(request)
        }
        let updated = stored.updated(by: response, requestedAt: requestedAt, receivedAt: now)
        var headers = updated.headers
        headers.append(StoredHeaders.forOneExchange(of: response.headers))
        let confirmed = HTTPResponse(
            version: updated.version, status: updated.status, reason: updated.reason, headers: headers,
            body: .bytes(updated.body))
        let change = policy.noStore ? .none : storing(updated, response) ?? .remove
        return .finish(answer(confirmed), change)
    }

    private func change(for response: HTTPResponse, requestedAt: UnixTime, at now: UnixTime) -> Change {
        guard request.method == .get, !policy.noStore else { return .none }
        if case .bytes(let body) = response.body {
            let new = StoredResponse(response, body: body, requestedAt: requestedAt, receivedAt: now)
            if let change = storing(new, response) { return change }
        }
        // A newer answer that isn't stored still ends the older one; an error of the server's does not.
        return isDisowned || stored != nil && response.status < 500 ? .remove : .none
    }

    private func storing(_ new: StoredResponse, _ response: HTTPResponse) -> Change? {
        policy.mayStore(new, hasCookies: response.headers.contains("Set-Cookie")) ? .store(new) : nil
    }

    private func stale(at now: UnixTime) -> Result<HTTPResponse, TransportError>? {
        guard let stored, policy.mayServeOnError(stored, at: now) else { return nil }
        return answer(stored.answer(at: now))
    }

    /// A HEAD gets what a GET would have got, but for the content (RFC 9110 §9.3.2).
    private func answer(_ response: HTTPResponse) -> Result<HTTPResponse, TransportError> {
        guard request.method != .head else {
            return .success(
                HTTPResponse(
                    version: response.version, status: response.status, reason: response.reason, headers: response.headers,
                    body: .bytes([])))
        }
        if case .bytes(let body) = response.body, body.count > limit {
            return .failure(TransportError(.bodyTooLarge(limit: limit)))
        }
        return .success(response)
    }
}

extension HTTPResponse {
    /// RFC 9111 §5.2.1.7.
    static var notCached: HTTPResponse {
        HTTPResponse(version: .http11, status: 504, reason: "Gateway Timeout", headers: HTTPHeaders(), body: .bytes([]))
    }
}

extension TransportError {
    /// Whether a gateway would have answered 502 or 504 in its place (RFC 5861 §4). A refused certificate is no outage.
    fileprivate var isOutage: Bool {
        switch code {
        case .hostNotFound, .connectionFailed, .timedOut, .connectionLost, .malformedResponse: true
        default: false
        }
    }
}
