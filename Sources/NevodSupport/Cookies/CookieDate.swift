/// Dates in cookies (RFC 6265 §5.1.1), which servers write in more formats than HTTP's other dates.
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
        text.allSatisfy(isDigit) ? number(text, digits: 1...2) : nil
    }

    /// The leading number; the rest of the token is ignored.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let number = token.prefix(while: isDigit)
        return digits.contains(number.count) ? Int(Substring(number)) : nil
    }

    /// The month from 1 to 12.
    private static func monthNumber(_ token: Substring.UTF8View) -> Int? {
        let name = token.prefix(3).map { $0 | 0x20 }
        return months.firstIndex { $0.utf8.elementsEqual(name) }.map { $0 + 1 }
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
