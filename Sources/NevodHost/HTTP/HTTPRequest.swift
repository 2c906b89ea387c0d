internal import NevodSupport

/// A request as it is sent: the exact request-target and ordered header lines, each part with its ``Provenance``.
public struct HTTPRequest: Sendable {
    /// The method, case-sensitive (RFC 9110 §9.1).
    public var method: HTTPMethod
    /// The origin that the request goes to; credentials are bound to it (RFC 6454).
    public private(set) var origin: Origin
    /// The exact request-target (RFC 9112 §3.2), for instance `/a%2Fb?x=1`.
    public private(set) var target: String
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
    private(set) var addedQueryItems: [(range: Range<Int>, provenance: Provenance)] = []

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

    /// Appends `name=value` to the query, percent-encoded. The existing query stays byte for byte, with one exception: a token or
    /// plugin replaces its own item of this name, so that a request that is authorized again carries the credential once.
    public mutating func appendQueryItem(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) {
        appendEncodedQueryItem(PercentEncoding.queryItem(name) + [UInt8(ascii: "=")] + PercentEncoding.queryItem(value))
    }

    /// Removes the items of this name that the current writer has added.
    mutating func removeOwnQueryItems(_ name: some Sequence<UInt8>) {
        guard !addedQueryItems.isEmpty else { return }
        let item = PercentEncoding.queryItem(name)
        while removeQueryItem(namedLike: item) {}
    }

    /// Appends `name=value` to the query, percent-encoded. Keeps other items of this name.
    mutating func addQueryItem(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) {
        add(queryItem: PercentEncoding.queryItem(name) + [UInt8(ascii: "=")] + PercentEncoding.queryItem(value))
    }

    /// Appends an item that is already percent-encoded, or has no value.
    package mutating func appendEncodedQueryItem(_ item: [UInt8]) {
        removeQueryItem(namedLike: item)
        add(queryItem: item)
    }

    private mutating func add(queryItem item: [UInt8]) {
        var bytes = Array(target.utf8)
        bytes.append(bytes.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?"))
        let start = bytes.count
        bytes += item
        target = String(decoding: bytes, as: UTF8.self)
        if provenance != .caller { addedQueryItems.append((start..<bytes.count, provenance)) }
    }

    /// Appends text to the query unchanged, except that characters that RFC 3986 forbids there are percent-encoded.
    public mutating func appendQuery(_ text: [UInt8]) throws(InvalidRequestError) {
        let separator = target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        let bytes =
            Array("\(origin)\(target)\(separator)".utf8) + text.flatMap { $0 == UInt8(ascii: "#") ? Array("%23".utf8) : [$0] }
        target = try HTTPURL(String(decoding: bytes, as: UTF8.self)).target
    }

    /// Removes the current writer's first item with the name of `item`.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    private mutating func removeQueryItem(namedLike item: [UInt8]) -> Bool {
        func name(_ item: ArraySlice<UInt8>) -> ArraySlice<UInt8> { item.prefix { $0 != UInt8(ascii: "=") } }
        let bytes = Array(target.utf8)
        guard provenance != .caller,
            let old = addedQueryItems.firstIndex(where: {
                $0.provenance == provenance && name(bytes[$0.range]) == name(item[...])
            })
        else { return false }
        removeAddedQueryItem(at: old)
        return true
    }

    /// Removes an item and the separator before it, or, for the first item, the separator after it.
    private mutating func removeAddedQueryItem(at index: Int) {
        var bytes = Array(target.utf8)
        let item = addedQueryItems.remove(at: index).range
        let isFirst = bytes[item.lowerBound - 1] == UInt8(ascii: "?")
        let hasNext = item.upperBound < bytes.count
        let removed = isFirst && hasNext ? item.lowerBound..<item.upperBound + 1 : item.lowerBound - 1..<item.upperBound
        bytes.removeSubrange(removed)
        for other in addedQueryItems.indices where addedQueryItems[other].range.lowerBound > removed.lowerBound {
            let range = addedQueryItems[other].range
            addedQueryItems[other].range = range.lowerBound - removed.count..<range.upperBound - removed.count
        }
        target = String(decoding: bytes, as: UTF8.self)
    }

    /// The query items that a token or scheme wrote, percent-decoded.
    var credentialQueryItems: [[UInt8]] {
        let bytes = Array(target.utf8)
        return addedQueryItems.filter(\.provenance.writesCredentials).map { PercentEncoding.decoded(bytes[$0.range]) }
    }

    /// Points the request at the URL that a server redirected it to.
    ///
    /// - Parameters:
    ///   - url: the absolute URL.
    ///   - items: percent-decoded query items to leave out of the new target. Servers repeat the query that they received to the
    ///     next origin, with its credentials and maybe in another encoding. On the same origin, the token writes its items again.
    mutating func redirect(to url: String, leavingOut items: [[UInt8]]) throws(InvalidRequestError) {
        let parsed = try HTTPURL(url)
        origin = parsed.origin
        addedQueryItems = []
        let parts = parsed.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !items.isEmpty else {
            target = parsed.target
            return
        }
        let all = parts[1].split(separator: "&", omittingEmptySubsequences: false)
        let kept = all.filter { !items.contains(PercentEncoding.decoded($0.utf8)) }
        target = kept.count == all.count ? parsed.target : parts[0] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
    }

    /// Removes query items of a request that was redirected.
    mutating func removeQueryItems(where isRemoved: (Substring.UTF8View) -> Bool) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, addedQueryItems.isEmpty else { return }
        let all = parts[1].split(separator: "&", omittingEmptySubsequences: false)
        let kept = all.filter { !isRemoved($0.utf8) }
        if kept.count < all.count { target = parts[0] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&")) }
    }

    /// Whether the request has anything that a token or scheme wrote, or a header line with a credential's name.
    package var carriesCredentials: Bool {
        proxyAuthorization != nil || addedQueryItems.contains(where: \.provenance.writesCredentials)
            || headers.contains(where: { $0.provenance.writesCredentials || CredentialNames.standard.contains($0.name.utf8) })
    }

    /// Removes everything that a token or scheme wrote, and the header lines with a credential's name.
    mutating func stripCredentials() {
        headers.removeAll(where: \.writesCredentials)
        headers.removeNames { CredentialNames.standard.contains($0) }
        stripCredentialQueryItems()
    }

    /// Removes the query items that a token or scheme wrote.
    mutating func stripCredentialQueryItems() {
        while let item = addedQueryItems.firstIndex(where: \.provenance.writesCredentials) { removeAddedQueryItem(at: item) }
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
