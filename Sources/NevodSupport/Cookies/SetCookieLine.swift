/// A parsed `Set-Cookie` line (RFC 6265 §5.2). It doesn't decide whether the server may set the cookie, or which requests carry
/// it.
public struct SetCookieLine: Sendable {
    /// The text before the first `=`, without surrounding white space.
    public let name: String
    /// The text after the first `=`, up to the first `;`, with its quotes.
    public let value: String
    /// As the server wrote it, without a leading dot.
    public private(set) var domain: String?
    /// Begins with a slash.
    public private(set) var path: String?
    /// Whether the cookie has the attribute `Secure`, so that it is sent only over `https`.
    public private(set) var isSecure = false
    /// Whether the cookie has the attribute `HttpOnly`, so that scripts in pages can't read it.
    public private(set) var isHTTPOnly = false
    /// In lower case.
    public private(set) var sameSite: String?
    private var date: Int64?
    private var maxAge: Int64?

    /// Parses a line. Malformed attributes are ignored. Of repeated attributes, the last one counts.
    ///
    /// - Parameter line: the field's value.
    /// - Returns: nil if the line has no `=`, or has a control character.
    public init?(_ line: String) {
        guard line.utf8.allSatisfy({ $0.isFieldByte }) else { return nil }
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

    private mutating func read(_ name: String, _ value: String) {
        guard value.utf8.count <= Self.mostBytes else { return }
        switch name.lowercasedASCII {
        case "domain":
            let name = value.utf8.first == UInt8(ascii: ".") ? String(Substring(value.utf8.dropFirst())) : value
            if !name.isEmpty { domain = name }
        case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "expires": date = CookieDate.unixSeconds(value) ?? date
        case "max-age": maxAge = Self.seconds(value) ?? maxAge
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = value.lowercasedASCII
        default: break
        }
    }

    /// The seconds of Max-Age (RFC 6265 §5.2.2). Values out of range are clamped.
    private static func seconds(_ maxAge: String) -> Int64? {
        let isNegative = maxAge.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? maxAge.dropFirst() : maxAge[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0.isDigit }) else { return nil }
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

/// Dates in cookies (RFC 6265 §5.1.1). Servers write them in more formats than other dates in HTTP.
package enum CookieDate {
    /// Seconds since 1970-01-01T00:00:00Z; nil if the day, month, year or time is missing, or the date doesn't exist.
    package static func unixSeconds(_ text: String) -> Int64? {
        var (clock, day, month, year): ([Int]?, Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if clock == nil, let found = time(token) {
                clock = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = monthNumber(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let clock, let day, let month, let year, clock[2] <= 59 else { return nil }
        let full = fullYear(year)
        guard full >= 1601 else { return nil }
        return CivilCalendar.unixSeconds(
            year: full, month: month, day: day, hour: clock[0], minute: clock[1], second: clock[2])
    }

    private static func fullYear(_ year: Int) -> Int {
        switch year {
        case 70...99: year + 1900
        case 0...69: year + 2000
        default: year
        }
    }

    /// Hours, minutes and seconds.
    private static func time(_ token: Substring.UTF8View) -> [Int]? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = wholeNumber(parts[0]), let minute = wholeNumber(parts[1]),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return [hour, minute, second]
    }

    private static func wholeNumber(_ text: Substring.UTF8View) -> Int? {
        text.allSatisfy { $0.isDigit } ? number(text, digits: 1...2) : nil
    }

    /// The leading number; the rest of the token is ignored.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let number = token.prefix { $0.isDigit }
        return digits.contains(number.count) ? Int(Substring(number)) : nil
    }

    /// The month from 1 to 12.
    private static func monthNumber(_ token: Substring.UTF8View) -> Int? {
        let name = token.prefix(3).map { $0 | 0x20 }
        return months.firstIndex { $0.utf8.elementsEqual(name) }.map { $0 + 1 }
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
