/// A parsed `Set-Cookie` line (RFC 6265 §5.2). Doesn't decide whether the server may set the cookie, nor which requests it goes
/// with.
public struct SetCookieLine: Sendable {
    /// The text before the first `=`, without surrounding white space.
    public let name: String
    /// The text after it, up to the first `;`, with its quotes.
    public let value: String
    /// As the server wrote it, without a leading dot.
    public private(set) var domain: String?
    /// Begins with a slash.
    public private(set) var path: String?
    /// Whether the cookie has the attribute `Secure`: for `https` alone.
    public private(set) var isSecure = false
    /// Whether the cookie has the attribute `HttpOnly`: not for scripts in pages.
    public private(set) var isHTTPOnly = false
    /// In lower case.
    public private(set) var sameSite: String?
    private var date: Int64?
    private var maxAge: Int64?

    /// Parses a line. Malformed attributes are ignored; the last of a repeated attribute counts.
    ///
    /// - Parameter line: the field's value.
    /// - Returns: nil if the line has no `=`, or has a control character.
    public init?(_ line: String) {
        guard !line.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
        var pairs = line.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(Self.pair)
        let (name, value) = pairs.removeFirst()
        guard let value else { return nil }
        self.name = name
        self.value = value
        for (name, value) in pairs { read(name, value ?? "") }
    }

    /// The cookie's expiry in seconds since 1970 UTC; nil for a session cookie. Max-Age takes precedence over Expires. A server
    /// deletes a cookie with an expiry in the past.
    ///
    /// - Parameter unixSeconds: the time at which the line arrived.
    public func expiry(setAt unixSeconds: Int64) -> Int64? {
        guard let maxAge else { return date }
        guard maxAge > 0 else { return .min }
        let (sum, isTooLate) = unixSeconds.addingReportingOverflow(maxAge)
        return isTooLate ? .max : sum
    }

    /// Whether the cookie has the properties that a `__Secure-` or `__Host-` prefix of its name promises (draft 6265bis §4.1.3), in
    /// any letter case.
    public func keepsItsPrefix(isHostOnly: Bool) -> Bool {
        // A line with a Domain can set a cookie for one host alone, if that is an address or a public suffix.
        CookieName.keepsItsPrefix(name, isSecure: isSecure, isHostOnly: isHostOnly && domain == nil, path: path)
    }

    private mutating func read(_ name: String, _ value: String) {
        guard value.utf8.count <= Self.mostBytes else { return }
        switch name.lowercased() {
        case "domain":
            let name = value.utf8.first == UInt8(ascii: ".") ? String(Substring(value.utf8.dropFirst())) : value
            if !name.isEmpty { domain = name }
        case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "expires": date = CookieDate.unixSeconds(value) ?? date
        case "max-age": maxAge = Self.seconds(value) ?? maxAge
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = value.lowercased()
        default: break
        }
    }

    /// The seconds of Max-Age (RFC 6265 §5.2.2); values out of range are clamped.
    private static func seconds(_ maxAge: String) -> Int64? {
        let isNegative = maxAge.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? maxAge.dropFirst() : maxAge[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return isNegative ? 0 : Int64(digits) ?? .max
    }

    private static func pair(_ text: Substring.UTF8View) -> (name: String, value: String?) {
        let name = text.prefix { $0 != UInt8(ascii: "=") }
        let value = name.endIndex < text.endIndex ? text[name.endIndex...].dropFirst().withoutSpaceAround : nil
        return (name.withoutSpaceAround, value)
    }

    /// The longest attribute value (draft 6265bis §5.5).
    private static let mostBytes = 1024
}

extension Substring.UTF8View {
    /// The text without leading and trailing spaces and tabs.
    package var withoutSpaceAround: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var text = drop(while: isSpace)
        while let last = text.last, isSpace(last) { text = text.dropLast() }
        return String(Substring(text))
    }
}
