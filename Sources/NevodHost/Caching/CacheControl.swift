internal import NevodSupport

/// The directives of a request's or response's `Cache-Control` (RFC 9111 §5.2). Unknown directives are kept but have no effect
/// (§5.2.3).
struct CacheControl: Sendable {
    private var directives: [(name: String, argument: String?)] = []

    init(_ headers: HTTPHeaders) {
        for line in headers.values(of: "Cache-Control") { parse(Array(line.utf8)) }
    }

    private init(line: String) { parse(Array(line.utf8)) }

    /// The directives of requests that this cache obeys (§5.2.1, RFC 5861 §4).
    private static let ofRequests: Set<String> = [
        "max-age", "max-stale", "min-fresh", "no-cache", "no-store", "no-transform", "only-if-cached", "stale-if-error",
    ]

    /// Whether a request's line contains only directives that this cache obeys, with only numbers as arguments. Anything else may
    /// mean something to the server.
    static func isUnderstood(_ line: String) -> Bool {
        CacheControl(line: line).directives.allSatisfy { directive in
            ofRequests.contains(directive.name) && (directive.argument.map { seconds($0) != nil } ?? true)
        }
    }

    func contains(_ name: String) -> Bool {
        directives.contains { $0.name == name }
    }

    /// The duration that a directive specifies; nil if there is no such directive.
    ///
    /// - Parameter broken: returned if the argument is missing or not a number, or if the directive is repeated with another
    ///   argument (§4.2.1).
    func duration(_ name: String, broken: Duration) -> Duration? {
        let arguments = directives.filter { $0.name == name }.map(\.argument)
        guard let first = arguments.first else { return nil }
        guard let first, arguments.allSatisfy({ $0 == first }) else { return broken }
        return Self.seconds(first) ?? broken
    }

    /// Whether the directive occurs without an argument.
    func isBare(_ name: String) -> Bool {
        directives.contains { $0.name == name && $0.argument == nil }
    }

    /// Parses a number of seconds. Numbers above 2^31 count as 2^31 (§1.2.2).
    static func seconds(_ text: String) -> Duration? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return .seconds(min(Int64(text) ?? .max, 1 << 31))
    }

    /// Parses a list of `name`, `name=token` and `name="text"`.
    private mutating func parse(_ line: [UInt8]) {
        var name: [UInt8] = []
        var argument: [UInt8]?
        var index = 0
        var isTerminated = true
        while index <= line.count {
            let byte = index < line.count ? line[index] : UInt8(ascii: ",")
            index += 1
            switch byte {
            case UInt8(ascii: ","):
                append(name, argument)
                (name, argument) = ([], nil)
            case UInt8(ascii: "=") where argument == nil: argument = []
            case UInt8(ascii: "\""):
                // An unterminated string doesn't hide the directives after it. All later quotation marks are escaped, so they
                // begin no other string. Searching from each of them would take quadratic time.
                guard isTerminated, let text = Self.quoted(line[index...]) else {
                    isTerminated = false
                    continue
                }
                argument?.append(contentsOf: text.bytes)
                index = text.end
            default:
                if argument == nil { name.append(byte) } else { argument?.append(byte) }
            }
        }
    }

    private mutating func append(_ name: [UInt8], _ argument: [UInt8]?) {
        let name = String(decoding: name.trimmedOfBlanks, as: UTF8.self)
        guard !name.isEmpty else { return }
        let argument = argument.map { bytes in
            String(decoding: bytes.reversed().drop(while: \.isBlank).reversed(), as: UTF8.self)
        }
        directives.append((name.lowercased(), argument))
    }

    /// Parses a quoted string (RFC 9110 §5.6.4). Returns its content and the index after the closing quotation mark; nil if there
    /// is no closing mark.
    private static func quoted(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], end: Int)? {
        var bytes: [UInt8] = []
        var index = rest.startIndex
        while index < rest.endIndex {
            if rest[index] == UInt8(ascii: "\"") { return (bytes, index + 1) }
            if rest[index] == UInt8(ascii: "\\"), index + 1 < rest.endIndex { index += 1 }
            bytes.append(rest[index])
            index += 1
        }
        return nil
    }
}
