/// Dates in HTTP fields (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// Parses the three forms that recipients must accept; nil for anything else.
    package static func parse(_ text: String) -> UnixTime? {
        let words = text.split { $0 == " " || $0 == "-" || $0 == "," }.map(String.init)
        switch words.count {
        // Sun, 06 Nov 1994 08:49:37 GMT
        case 6 where words[5] == "GMT" && words[3].count == 4:
            return time(day: words[1], month: words[2], year: words[3], clock: words[4])
        // Sunday, 06-Nov-94 08:49:37 GMT: a year more than 50 years ahead is in the last century.
        case 6 where words[5] == "GMT" && words[3].count == 2:
            guard let year = Int(words[3]) else { return nil }
            let century = HostClock.system.now.year / 100 * 100
            let full = century + year > HostClock.system.now.year + 50 ? century + year - 100 : century + year
            return time(day: words[1], month: words[2], year: String(full), clock: words[4])
        // Sun Nov  6 08:49:37 1994
        case 5: return time(day: words[2], month: words[1], year: words[4], clock: words[3])
        default: return nil
        }
    }

    private static func time(day: String, month: String, year: String, clock: String) -> UnixTime? {
        let parts = clock.split(separator: ":").map { Int($0) }
        guard let month = months.firstIndex(of: month), let day = Int(day), let year = Int(year), parts.count == 3,
            let hour = parts[0], let minute = parts[1], let second = parts[2]
        else { return nil }
        return UnixTime(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
