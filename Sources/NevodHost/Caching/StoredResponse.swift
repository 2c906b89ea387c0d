/// A response as the cache stores it, with what its age and freshness are computed from. It has no clock: times are passed in.
struct StoredResponse: Sendable {
    let version: HTTPResponse.Version
    let status: Int
    let reason: String
    /// The header lines, except those that concern one connection or one exchange only.
    let headers: HTTPHeaders
    let body: [UInt8]

    let control: CacheControl
    let requestedAt: UnixTime
    let receivedAt: UnixTime
    /// When the origin created it: its Date, or else the time of its arrival (RFC 9110 §6.6.1).
    let date: UnixTime
    /// `corrected_initial_age` (RFC 9111 §4.2.3).
    let initialAge: Duration
    /// The lifetime that the server states; nil if it states none.
    let statedLifetime: Duration?
    /// The lifetime if neither the server nor the client chooses one.
    let suggestedLifetime: Duration

    /// - Parameter requestedAt: when the request for this response was sent.
    init(_ response: HTTPResponse, body: [UInt8], requestedAt: UnixTime, receivedAt: UnixTime) {
        version = response.version
        status = response.status
        reason = response.reason
        self.body = body
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        var headers = StoredHeaders.storable(in: response.headers)
        if let date = headers["Date"].flatMap(HTTPDate.parse) {
            self.date = date
        } else {
            date = receivedAt
            // A stored response without a Date gets one (RFC 9110 §6.6.1).
            headers.set("Date", HTTPDate.text(receivedAt), by: .host)
        }
        self.headers = headers
        control = CacheControl(headers)
        initialAge = Self.initialAge(headers, date: date, requestedAt: requestedAt, receivedAt: receivedAt)
        statedLifetime = Self.statedLifetime(headers, control, date: date)
        suggestedLifetime = Self.suggestedLifetime(status, headers, control, date: date)
    }

    /// Whether the server says that the response is for one user (RFC 9111 §5.2.2.7). Even if the directive names fields, the
    /// whole response is private.
    var isPrivate: Bool { control.contains("private") }

    /// The size in memory, in bytes.
    var cost: Int {
        body.count + headers.storage.count + headers.count * MemoryLayout<HTTPHeaders.Line>.stride + 512
    }

    /// The response to return without validation, with its Age (RFC 9111 §4, §5.1).
    func response(at now: UnixTime) -> HTTPResponse {
        var aged = headers
        aged.set("Age", String((age(at: now) ?? .zero).components.seconds), by: .host)
        return HTTPResponse(version: version, status: status, reason: reason, headers: aged, body: .bytes(body))
    }
}
