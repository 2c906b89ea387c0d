/// One request's path through the cache: a state machine without I/O. It returns actions; ``CachingSession`` performs them and
/// feeds back their outcomes.
struct CacheExchange: Sendable {
    enum Action: Sendable {
        case send(HTTPRequest)
        case finish(Result<HTTPResponse, TransportError>, Change)
    }

    /// How to change the stored response that the exchange started with.
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
    /// Whether the server has confirmed a response other than the stored one, and no new response has arrived yet.
    private var isMismatched = false

    /// - Parameters:
    ///   - stored: the response that the request selects (RFC 9111 §4).
    ///   - limit: the limit of the body, in bytes. A longer stored body is an error, as it would be from the network.
    init(_ request: HTTPRequest, _ policy: CachePolicy, stored: StoredResponse?, limit: Int) {
        self.request = request
        self.policy = policy
        self.stored = stored
        self.limit = limit
    }

    mutating func start(at now: UnixTime) -> Action {
        if let stored, policy.mayServe(stored, at: now) { return .finish(result(delivering: stored.response(at: now)), .none) }
        // RFC 9111 §5.2.1.7
        guard !policy.onlyIfCached else { return .finish(.success(.notCached), .none) }
        var outgoing = request
        if let stored, stored.hasValidator, request.method == .get {
            stored.addValidators(to: &outgoing)
            isValidating = true
        }
        return .send(outgoing)
    }

    /// - Parameter requestedAt: when the request with this outcome was sent.
    mutating func receive(
        _ outcome: Result<HTTPResponse, TransportError>, requestedAt: UnixTime, at now: UnixTime
    ) -> Action {
        switch outcome {
        case .failure(let error):
            return .finish(error.isOutage ? stale(at: now) ?? outcome : outcome, isMismatched ? .remove : .none)
        case .success(let response) where response.status == 304 && isValidating:
            return confirm(response, requestedAt: requestedAt, at: now)
        case .success(let response):
            // The statuses that RFC 5861 §4 names.
            if [500, 502, 503, 504].contains(response.status), let stale = stale(at: now) { return .finish(stale, .none) }
            return .finish(outcome, change(for: response, requestedAt: requestedAt, at: now))
        }
    }

    /// RFC 9111 §4.3.3, §4.3.4.
    private mutating func confirm(_ response: HTTPResponse, requestedAt: UnixTime, at now: UnixTime) -> Action {
        isValidating = false
        guard let stored, stored.isConfirmed(by: response) else {
            // The 304 is about a response that isn't stored: fetch it without validators.
            stored = nil
            isMismatched = true
            return .send(request)
        }
        let updated = stored.updated(by: response, requestedAt: requestedAt, receivedAt: now)
        var headers = updated.headers
        headers.append(StoredHeaders.singleUse(in: response.headers))
        let confirmed = HTTPResponse(
            version: updated.version, status: updated.status, reason: updated.reason, headers: headers,
            body: .bytes(updated.body))
        let change = policy.noStore ? .none : storing(updated, response) ?? .remove
        return .finish(result(delivering: confirmed), change)
    }

    private func change(for response: HTTPResponse, requestedAt: UnixTime, at now: UnixTime) -> Change {
        guard request.method == .get, !policy.noStore else { return .none }
        if case .bytes(let body) = response.body {
            let new = StoredResponse(response, body: body, requestedAt: requestedAt, receivedAt: now)
            if let change = storing(new, response) { return change }
        }
        // A newer response invalidates the stored one even if it isn't stored itself; a server error does not.
        return isMismatched || stored != nil && response.status < 500 ? .remove : .none
    }

    private func storing(_ new: StoredResponse, _ response: HTTPResponse) -> Change? {
        let hasCookies = CredentialNames.responseFields.contains(where: response.headers.contains)
        return policy.mayStore(new, hasCookies: hasCookies) ? .store(new) : nil
    }

    private func stale(at now: UnixTime) -> Result<HTTPResponse, TransportError>? {
        guard let stored, policy.mayServeOnError(stored, at: now) else { return nil }
        return result(delivering: stored.response(at: now))
    }

    /// The result for the caller. For HEAD, the body is left out (RFC 9110 §9.3.2); otherwise, a body larger than the limit is an
    /// error.
    private func result(delivering response: HTTPResponse) -> Result<HTTPResponse, TransportError> {
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

extension StoredResponse {
    var hasValidator: Bool { headers.contains("ETag") || headers.contains("Last-Modified") }

    /// Makes a request conditional, to validate this response (RFC 9111 §4.3.1). For GET, a weak entity tag suffices (RFC 9110
    /// §13.1.2).
    func addValidators(to request: inout HTTPRequest) {
        if let tag = headers["ETag"] { request.headers.add("If-None-Match", tag, by: .host) }
        if let date = headers["Last-Modified"] { request.headers.add("If-Modified-Since", date, by: .host) }
    }

    /// Whether a 304 confirms this response (RFC 9111 §4.3.4). A 304 without an entity tag refers to the one in the request.
    func isConfirmed(by notModified: HTTPResponse) -> Bool {
        guard let confirmed = notModified.headers["ETag"], let stored = headers["ETag"] else { return true }
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        return opaque(confirmed) == opaque(stored)
    }

    /// This response with the lines and times of a 304 (RFC 9111 §3.2, §4.3.4).
    func updated(by notModified: HTTPResponse, requestedAt: UnixTime, receivedAt: UnixTime) -> StoredResponse {
        let lines = StoredHeaders.updated(headers, by: notModified.headers)
        let response = HTTPResponse(version: version, status: status, reason: reason, headers: lines, body: .bytes(body))
        return StoredResponse(response, body: body, requestedAt: requestedAt, receivedAt: receivedAt)
    }
}

extension HTTPResponse {
    /// The response to `only-if-cached` if none is stored (RFC 9111 §5.2.1.7).
    static var notCached: HTTPResponse {
        HTTPResponse(version: .http11, status: 504, reason: "Gateway Timeout", headers: HTTPHeaders(), body: .bytes([]))
    }
}

extension TransportError {
    /// Whether a gateway would return 502 or 504 for this error (RFC 5861 §4). A rejected certificate is not an outage.
    fileprivate var isOutage: Bool {
        switch code {
        case .hostNotFound, .connectionFailed, .timedOut, .connectionLost, .malformedResponse: true
        default: false
        }
    }
}
