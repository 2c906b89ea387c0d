internal import NevodSupport

/// A request as it is sent: the exact request-target and ordered header lines, each part with its ``Provenance``.
public struct HTTPRequest: Sendable {
    /// The method, case-sensitive (RFC 9110 §9.1).
    public var method: HTTPMethod
    /// The origin that the request goes to; credentials are bound to it (RFC 6454).
    public internal(set) var origin: Origin
    /// The exact request-target (RFC 9112 §3.2), for instance `/a%2Fb?x=1`.
    public internal(set) var target: String
    /// Header lines in wire order. Change them with ``setHeader(_:_:)``, ``addHeader(_:_:)`` and ``removeHeader(_:)``, which
    /// validate the line and record its provenance.
    public package(set) var headers: HTTPHeaders
    /// The body. The host derives Content-Length or Transfer-Encoding from it (RFC 9112 §6).
    public var body: HTTPBody
    /// The value of `Proxy-Authorization` (RFC 9110 §11.7.2). Kept apart from ``headers``, which go to the origin: a transport
    /// sends it to an HTTP proxy only.
    public package(set) var proxyAuthorization: String?
    /// The route that the request was made from; nil for a request made without one. An interceptor can't change it.
    public package(set) var route: RouteDescription?

    /// The provenance recorded for edits. The host changes it while a token or plugin edits the request.
    var provenance: Provenance = .caller
    /// The query items in ``target`` that weren't written by the caller, as UTF-8 offsets.
    var addedQueryItems: [(range: Range<Int>, provenance: Provenance)] = []

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: the method, sent as spelled.
    ///   - url: an absolute `http` or `https` URL. Sent unchanged, except that characters that RFC 3986 forbids are
    ///     percent-encoded.
    ///   - body: the body. The host adds the header line for its length.
    public init(
        _ method: HTTPMethod, _ url: String, body: HTTPBody = .none
    ) throws(InvalidRequestError) {
        let parsed = try HTTPURL(url)
        self.method = method
        origin = parsed.origin
        target = parsed.target
        headers = HTTPHeaders()
        headers.reserveCapacity(bytes: 768, lines: 16)
        self.body = body
    }

    /// Origin and target, including credentials in the query. Don't log it; see ``redactedHead``.
    public var url: String { "\(origin)\(target)" }

    /// Sets a header line, replacing every line with this name.
    public mutating func setHeader(_ name: String, _ value: String) throws(InvalidRequestError) {
        try Self.check(name, value)
        headers.set(name, value, by: provenance)
    }

    /// Appends a header line.
    public mutating func addHeader(_ name: String, _ value: String) throws(InvalidRequestError) {
        try Self.check(name, value)
        guard name.lowercased() != "host" || !headers.contains(name) else {
            throw InvalidRequestError(.header(name), "a request can have only one (RFC 9112 §3.2)")
        }
        headers.add(name, value, by: provenance)
    }

    /// Removes every line with this name, regardless of its provenance.
    public mutating func removeHeader(_ name: String) {
        headers.remove(name)
    }

    /// Adds a cookie to the Cookie line, replacing a cookie with this name (RFC 6265 §5.4).
    public mutating func setCookie(_ name: String, _ value: String) throws(InvalidRequestError) {
        guard HTTPSyntax.isToken(name), value.utf8.allSatisfy(HTTPSyntax.isCookieOctet) else {
            throw InvalidRequestError(
                .header("Cookie"), "the cookie's name or value contains a character that cookies can't have (RFC 6265 §4.1.1)")
        }
        try setCookies([(name, value)])
    }

    /// Adds cookies to the single Cookie line. They replace cookies of the same names. Values are sent as the server set them,
    /// including quotes, commas and spaces that ``setCookie(_:_:)`` refuses.
    mutating func setCookies(_ cookies: [(name: String, value: String)]) throws(InvalidRequestError) {
        guard !cookies.isEmpty else { return }
        try setHeader("Cookie", CookieLine.merging(cookies, into: headers.values(of: "Cookie")))
    }

    /// Replaces the body, and the line for its length.
    mutating func replaceBody(_ body: HTTPBody) {
        self.body = body
        for field in ["Content-Length", "Transfer-Encoding"] { headers.remove(field) }
        materialize()
    }

    /// Sets or adds a header line that the caller wrote but that is treated like a token's: it is hidden in logs, and removed once
    /// a redirect leads to another origin.
    package mutating func writeCredential(_ name: String, _ value: String, adding: Bool) throws(InvalidRequestError) {
        let previous = provenance
        provenance = .callerSecret
        defer { provenance = previous }
        if adding { try addHeader(name, value) } else { try setHeader(name, value) }
    }

    /// Writes every line that a transport would otherwise add itself, so that a signer sees everything that is sent.
    package mutating func materialize() {
        // A request that was materialized before is recognized by its first lines: a scan of all lines would take longer.
        if headers.isLine(0, named: "Host"), !needsLength || headers.isLine(1, named: "Content-Length") { return }
        addLength()
        if let host = headers.firstIndex(of: "Host") {
            headers.moveToFront(host)
        } else {
            headers.addFirst("Host", origin.authority, by: .host)
        }
    }

    private var needsLength: Bool { body.length != 0 || method.anticipatesContent }

    /// Adds the line for the body's length at the front, so that the order on the wire doesn't depend on when a token writes.
    private mutating func addLength() {
        guard needsLength, !headers.contains("Content-Length"), !headers.contains("Transfer-Encoding") else { return }
        switch body.length {
        case let length?: headers.addFirst("Content-Length", String(length), by: .host)
        case nil: headers.addFirst("Transfer-Encoding", "chunked", by: .host)
        }
    }

    private static func check(_ name: String, _ value: String) throws(InvalidRequestError) {
        try HTTPHeaders.check(name, value)
        guard !["content-length", "transfer-encoding"].contains(name.lowercased()) else {
            throw InvalidRequestError(.header(name), "the host derives it from the body")
        }
    }
}

extension HTTPRequest {
    /// Resolves a reference in the response to this request (RFC 3986 §5.2).
    func resolving(_ reference: String) -> String {
        URLReference(reference).resolved(against: origin.description, target)
    }
}
