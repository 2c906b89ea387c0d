internal import NevodSupport

/// A request as it goes over the wire: the exact request-target, ordered header lines, each part with its author.
public struct HTTPRequest: Sendable {
    /// Sent as it is spelt: methods are case-sensitive (RFC 9110 §9.1).
    public var method: HTTPMethod
    /// Where the request goes, and what its credentials are bound to (RFC 6454).
    public private(set) var origin: Origin
    /// The exact request-target (RFC 9112 §3.2), for instance `/a%2Fb?x=1`.
    public private(set) var target: String
    /// In the order of the wire. Changed by ``setHeader(_:_:)`` and its kind, which check what is written and note by whom.
    public package(set) var headers: HTTPHeaders
    /// The host derives Content-Length or Transfer-Encoding from it (RFC 9112 §6).
    public var body: HTTPBody
    /// What a proxy on the way wants to see in `Proxy-Authorization` (RFC 9110 §11.7.2). Apart from the headers, since those are
    /// the origin's: a transport sends it to a proxy that speaks HTTP, and otherwise not at all.
    public package(set) var proxyAuthorization: String?

    /// Who is editing. The host sets it around a token's and a plugin's turn; everyone else is the caller.
    var provenance: Provenance = .caller
    /// The parts of `target` that others than the caller wrote, as offsets in its UTF-8.
    private(set) var authoredQuery: [(range: Range<Int>, provenance: Provenance)] = []

    /// - Parameters:
    ///   - method: sent as it is spelt.
    ///   - url: absolute, `http` or `https`. Sent as it stands; only what RFC 3986 forbids is percent-encoded.
    ///   - body: what is sent; its length becomes a header line of the host's.
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

    /// Origin and target, with whatever tokens wrote into the query: not for logs, see ``redactedHead``.
    public var url: String { "\(origin)\(target)" }

    /// Replaces every line of that name.
    public mutating func setHeader(_ name: String, _ value: String) throws(InvalidRequestError) {
        try Self.check(name, value)
        headers.set(name, value, by: provenance)
    }

    /// Appends a line.
    public mutating func addHeader(_ name: String, _ value: String) throws(InvalidRequestError) {
        try Self.check(name, value)
        guard name.lowercased() != "host" || !headers.contains(name) else {
            throw InvalidRequestError(.header(name), "a request has only one (RFC 9112 §3.2)")
        }
        headers.add(name, value, by: provenance)
    }

    /// Removes every line of that name, whoever wrote it.
    public mutating func removeHeader(_ name: String) {
        headers.remove(name)
    }

    /// Adds a cookie to the one Cookie line (RFC 6265 §5.4), in place of a cookie of that name.
    public mutating func setCookie(_ name: String, _ value: String) throws(InvalidRequestError) {
        guard HTTPSyntax.isToken(name), value.utf8.allSatisfy(HTTPSyntax.isCookieByte) else {
            throw InvalidRequestError(.header("Cookie"), "the cookie's name or value holds what no cookie can (RFC 6265 §4.1.1)")
        }
        let kept = headers.values(of: "Cookie")
            .flatMap { $0.split(separator: ";") }
            .map { $0.drop { $0 == " " } }
            .filter { !$0.hasPrefix("\(name)=") }
        try setHeader("Cookie", (kept + ["\(name)=\(value)"]).joined(separator: "; "))
    }

    /// Appends `name=value`, percent-encoded. What stands in the query stays byte for byte, except an item of that name by
    /// the same author, which is replaced: a request that is authorised afresh carries a credential once.
    public mutating func appendQueryItem(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) {
        appendEncodedQueryItem(PercentEncoding.queryItem(name) + [UInt8(ascii: "=")] + PercentEncoding.queryItem(value))
    }

    /// The same for an item that is percent-encoded already, or that has no value.
    package mutating func appendEncodedQueryItem(_ item: [UInt8]) {
        removeQueryItem(namedLike: item)
        var bytes = Array(target.utf8)
        bytes.append(bytes.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?"))
        let start = bytes.count
        bytes += item
        target = String(decoding: bytes, as: UTF8.self)
        if provenance != .caller { authoredQuery.append((start..<bytes.count, provenance)) }
    }

    /// Appends text to the query as it stands; only what may not stand there is percent-encoded.
    public mutating func appendQuery(_ text: [UInt8]) throws(InvalidRequestError) {
        let separator = target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        let bytes =
            Array("\(origin)\(target)\(separator)".utf8) + text.flatMap { $0 == UInt8(ascii: "#") ? Array("%23".utf8) : [$0] }
        target = try HTTPURL(String(decoding: bytes, as: UTF8.self)).target
    }

    private mutating func removeQueryItem(namedLike item: [UInt8]) {
        func name(_ item: ArraySlice<UInt8>) -> ArraySlice<UInt8> { item.prefix { $0 != UInt8(ascii: "=") } }
        let bytes = Array(target.utf8)
        guard provenance != .caller,
            let old = authoredQuery.firstIndex(where: { $0.provenance == provenance && name(bytes[$0.range]) == name(item[...]) })
        else { return }
        removeAuthoredItem(at: old)
    }

    /// Takes an item out of the query with the separator before it, or, where it was the first, with the one behind it.
    private mutating func removeAuthoredItem(at index: Int) {
        var bytes = Array(target.utf8)
        let item = authoredQuery.remove(at: index).range
        let isFirst = bytes[item.lowerBound - 1] == UInt8(ascii: "?")
        let hasNext = item.upperBound < bytes.count
        let removed = isFirst && hasNext ? item.lowerBound..<item.upperBound + 1 : item.lowerBound - 1..<item.upperBound
        bytes.removeSubrange(removed)
        for other in authoredQuery.indices where authoredQuery[other].range.lowerBound > removed.lowerBound {
            let range = authoredQuery[other].range
            authoredQuery[other].range = range.lowerBound - removed.count..<range.upperBound - removed.count
        }
        target = String(decoding: bytes, as: UTF8.self)
    }

    /// The items of the query that a token or scheme wrote, decoded.
    var writtenQueryItems: [[UInt8]] {
        let bytes = Array(target.utf8)
        return authoredQuery.filter(\.provenance.writesCredentials).map { PercentEncoding.decoded(bytes[$0.range]) }
    }

    /// Points the request to where a server sent it.
    ///
    /// - Parameter items: of the query, to leave out of the new target: servers echo the query they got, and with it a
    ///   credential, to whatever origin comes next, in any spelling. On the same origin it is written anew.
    mutating func redirect(to url: String, leavingOut items: [[UInt8]]) throws(InvalidRequestError) {
        let parsed = try HTTPURL(url)
        origin = parsed.origin
        authoredQuery = []
        let parts = parsed.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !items.isEmpty else {
            target = parsed.target
            return
        }
        let all = parts[1].split(separator: "&", omittingEmptySubsequences: false)
        let kept = all.filter { !items.contains(PercentEncoding.decoded($0.utf8)) }
        target = kept.count == all.count ? parsed.target : parts[0] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
    }

    /// Takes off what a token or scheme wrote, and what is a credential by its name.
    mutating func stripCredentials() {
        headers.removeAll { $0.writesCredentials }
        for field in SecretNames.requestFields { headers.remove(field) }
        while let item = authoredQuery.firstIndex(where: \.provenance.writesCredentials) { removeAuthoredItem(at: item) }
    }

    /// Writes every line that a transport would otherwise add by itself, so that a signer sees all that is sent.
    package mutating func materialize() {
        addLength()
        if let host = headers.firstIndex(of: "Host") {
            headers.moveToFront(host)
        } else {
            headers.addFirst("Host", origin.authority, by: .host)
        }
    }

    /// In front of what others write, so that it makes no difference on the wire whether a token writes before or after it.
    private mutating func addLength() {
        guard !headers.contains("Content-Length"), !headers.contains("Transfer-Encoding") else { return }
        switch body.length {
        case 0?: if method.anticipatesContent { headers.addFirst("Content-Length", "0", by: .host) }
        case let length?: headers.addFirst("Content-Length", String(length), by: .host)
        case nil: headers.addFirst("Transfer-Encoding", "chunked", by: .host)
        }
    }

    private static func check(_ name: String, _ value: String) throws(InvalidRequestError) {
        guard HTTPSyntax.isToken(name) else {
            throw InvalidRequestError(.header(name), "the name is not a token (RFC 9110 §5.6.2)")
        }
        guard HTTPSyntax.isFieldValue(value) else {
            throw InvalidRequestError(.header(name), "the value holds a control character, such as a line break")
        }
        guard !["content-length", "transfer-encoding"].contains(name.lowercased()) else {
            throw InvalidRequestError(.header(name), "the host derives it from the body")
        }
    }
}
