/// A request as it goes over the wire: the exact request-target, ordered header lines, each part with its author.
public struct HTTPRequest: Sendable {
    public var method: HTTPMethod
    public private(set) var origin: Origin
    /// The exact request-target (RFC 9112 §3.2), for instance `/a%2Fb?x=1`.
    public private(set) var target: String
    public internal(set) var headers: HTTPHeaders
    public var body: HTTPBody

    /// Who is editing. The host sets it around a token's and a plugin's turn; everyone else is the caller.
    var author: Author = .caller
    /// The parts of `target` that others than the caller wrote, as offsets in its UTF-8.
    private(set) var authoredQuery: [(range: Range<Int>, author: Author)] = []

    /// - Parameter url: absolute, `http` or `https`. Sent as it stands; only what RFC 3986 forbids is percent-encoded.
    public init(
        _ method: HTTPMethod = .get, _ url: String, body: HTTPBody = .none
    ) throws(InvalidRequest) {
        let parsed = try HTTPURL(url)
        self.method = method
        origin = parsed.origin
        target = parsed.target
        headers = HTTPHeaders()
        headers.reserveCapacity(bytes: 768, lines: 16)
        self.body = body
    }

    public var url: String { "\(origin)\(target)" }

    /// Replaces every line of that name.
    public mutating func setHeader(_ name: String, _ value: String) throws(InvalidRequest) {
        try Self.check(name, value)
        headers.set(name, value, by: author)
    }

    /// Appends a line.
    public mutating func addHeader(_ name: String, _ value: String) throws(InvalidRequest) {
        try Self.check(name, value)
        headers.add(name, value, by: author)
    }

    public mutating func removeHeader(_ name: String) {
        headers.remove(name)
    }

    /// Adds a cookie to the one Cookie line (RFC 6265 §5.4), in place of a cookie of that name.
    public mutating func setCookie(_ name: String, _ value: String) throws(InvalidRequest) {
        let kept = headers.values(of: "Cookie")
            .flatMap { $0.split(separator: ";") }
            .map { $0.drop { $0 == " " } }
            .filter { !$0.hasPrefix("\(name)=") }
        try setHeader("Cookie", (kept + ["\(name)=\(value)"]).joined(separator: "; "))
    }

    /// Appends `name=value`, percent-encoded. What stands in the query stays byte for byte, except an item of that name by
    /// the same author, which is replaced: a request that is authorised afresh carries a credential once.
    public mutating func appendQueryItem(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) {
        let prefix = PercentEncoding.queryItem(name) + [UInt8(ascii: "=")]
        removeQueryItem(startingWith: prefix)
        var bytes = Array(target.utf8)
        bytes.append(bytes.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?"))
        let start = bytes.count
        bytes += prefix + PercentEncoding.queryItem(value)
        target = String(decoding: bytes, as: UTF8.self)
        if author != .caller { authoredQuery.append((start..<bytes.count, author)) }
    }

    private mutating func removeQueryItem(startingWith prefix: [UInt8]) {
        var bytes = Array(target.utf8)
        guard author != .caller,
            let old = authoredQuery.firstIndex(where: { $0.author == author && bytes[$0.range].starts(with: prefix) })
        else { return }
        // With the separator before it.
        let removed = authoredQuery.remove(at: old).range
        bytes.removeSubrange(removed.lowerBound - 1..<removed.upperBound)
        for index in authoredQuery.indices where authoredQuery[index].range.lowerBound > removed.lowerBound {
            let range = authoredQuery[index].range
            let shift = removed.count + 1
            authoredQuery[index].range = range.lowerBound - shift..<range.upperBound - shift
        }
        target = String(decoding: bytes, as: UTF8.self)
    }

    /// Writes every line that a transport would otherwise add by itself, so that a signer sees all that is sent.
    mutating func materialize() {
        if !headers.contains("Host") { headers.addFirst("Host", origin.authority, by: .host) }
        if !headers.contains("Accept") { headers.add("Accept", "*/*", by: .host) }
        guard !headers.contains("Content-Length"), !headers.contains("Transfer-Encoding") else { return }
        switch body.length {
        case 0?: if method.anticipatesContent { headers.add("Content-Length", "0", by: .host) }
        case let length?: headers.add("Content-Length", String(length), by: .host)
        case nil: headers.add("Transfer-Encoding", "chunked", by: .host)
        }
    }

    private static func check(_ name: String, _ value: String) throws(InvalidRequest) {
        guard HTTPSyntax.isToken(name) else {
            throw InvalidRequest(.header(name), "the name is not a token (RFC 9110 §5.6.2)")
        }
        guard HTTPSyntax.isFieldValue(value) else {
            throw InvalidRequest(.header(name), "the value holds a control character, such as a line break")
        }
        guard !["content-length", "transfer-encoding"].contains(name.lowercased()) else {
            throw InvalidRequest(.header(name), "the host derives it from the body")
        }
    }
}
