internal import NevodSupport

/// An absolute http or https URL, split as the host splits it (RFC 3986 §3), for decisions by origin or path.
///
/// Works on bytes, because a combining mark after a slash must not hide the slash.
struct WebAddress: Sendable {
    /// The longest URL that a flow may send to, in bytes.
    static let limit = 8192

    private let isSecure: Bool
    /// In lower case, without brackets.
    private let host: String
    private let port: UInt16
    /// Scheme and authority, as written.
    let root: String
    /// Empty, or from the first slash up to a query or fragment.
    let path: String
    let hasQuery: Bool
    let hasFragment: Bool

    /// Returns nil for a text that isn't such a URL, that names a user, or that has bytes that a URL must encode.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.limit, bytes.allSatisfy({ $0.isVisible }) else { return nil }
        let start: Int
        if Self.starts(bytes, with: "https://") {
            isSecure = true
            start = 8
        } else if Self.starts(bytes, with: "http://") {
            isSecure = false
            start = 7
        } else {
            return nil
        }
        let authority = bytes[start...].prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard !authority.contains(UInt8(ascii: "@")), !authority.contains(UInt8(ascii: "\\")) else { return nil }
        let isBracketed = authority.first == UInt8(ascii: "[")
        let closing = isBracketed ? authority.firstIndex(of: UInt8(ascii: "]")) : nil
        guard !isBracketed || closing != nil else { return nil }
        let colon = authority[(closing ?? authority.startIndex)...].firstIndex(of: UInt8(ascii: ":"))
        let name = authority[..<(colon ?? authority.endIndex)]
        // Only the port follows a bracket, and a host has no other brackets (RFC 3986 §3.2.2).
        let plain = isBracketed ? name.dropFirst().dropLast() : name
        guard !name.isEmpty, !isBracketed || name.last == UInt8(ascii: "]"),
            !plain.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") })
        else { return nil }
        let digits = colon.map { authority[$0...].dropFirst() }
        if let digits, !digits.isEmpty {
            guard digits.count <= 5, let number = UInt16(digits: digits), number > 0 else { return nil }
            port = number
        } else {
            port = isSecure ? 443 : 80
        }
        host = String(decoding: plain.map { $0.lowercased }, as: UTF8.self)
        root = String(decoding: Array(bytes[..<authority.endIndex]), as: UTF8.self)
        let path = bytes[authority.endIndex...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        self.path = String(decoding: Array(path), as: UTF8.self)
        let rest = bytes[path.endIndex...]
        hasQuery = rest.first == UInt8(ascii: "?")
        hasFragment = rest.contains(UInt8(ascii: "#"))
    }

    /// Whether scheme, host and port are the same (RFC 6454 §5).
    func isSameOrigin(as other: WebAddress) -> Bool {
        isSecure == other.isSecure && port == other.port && host.utf8.elementsEqual(other.host.utf8)
    }

    /// Whether the server is on this machine: 127.0.0.0/8 in its usual form, ::1 or `localhost`.
    var isLoopback: Bool {
        if host.utf8.elementsEqual("localhost".utf8) || host.utf8.elementsEqual("::1".utf8) { return true }
        let parts = Array(host.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0].elementsEqual("127".utf8) && parts.allSatisfy(Self.isDecimalByte)
    }

    /// Whether responses can't be forged on the way, because of TLS or because the server is on this machine.
    var isAuthentic: Bool { isSecure || isLoopback }

    /// Whether an authentic server may name this address. It must use https, or both must be on this machine.
    func mayBeNamed(by other: WebAddress) -> Bool {
        isSecure || !other.isSecure && other.isLoopback && isLoopback
    }

    /// Whether another address belongs to the resource at this address: it has the same origin, and its path is the same or
    /// continues at a slash.
    func contains(_ other: WebAddress) -> Bool {
        guard isSameOrigin(as: other), !hasQuery, !hasFragment else { return false }
        let (own, whole) = (OAuth2Auth.trimmed(path), Array(other.path.utf8))
        guard whole.starts(with: Array(own.utf8)) else { return false }
        let rest = whole.dropFirst(own.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/")
    }

    private static func starts(_ bytes: [UInt8], with prefix: StaticString) -> Bool {
        let prefix = UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        return bytes.prefix(prefix.count).elementsEqual(prefix) { $0.lowercased == $1 }
    }

    /// Whether the digits are a number up to 255 without leading zeros, which resolvers would read as octal.
    private static func isDecimalByte(_ digits: ArraySlice<UInt8>) -> Bool {
        guard digits.count <= 3, let number = UInt16(digits: digits) else { return false }
        return number <= 255 && (digits.count == 1 || digits.first != 0x30)
    }
}
