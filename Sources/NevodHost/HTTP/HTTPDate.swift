internal import NevodSupport

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

extension HTTPDate {
    /// Formats a date as IMF-fixdate, the form that senders must generate (RFC 9110 §5.6.7).
    static func text(_ time: UnixTime) -> String {
        let date = CivilDate(unixNanoseconds: time.nanoseconds)
        let (day, year) = (date.day.padded(to: 2), date.year.padded(to: 4))
        return "\(weekdays[date.weekday]), \(day) \(months[date.month - 1]) \(year) \(date.clock) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
}

extension CivilDate {
    /// `08:49:37`
    var clock: String {
        [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60].map { $0.padded(to: 2) }.joined(separator: ":")
    }
}

extension UnixTime {
    /// Creates a time from a date in UTC; nil for a date that the calendar doesn't have. A leap second maps to the second before
    /// it; a date out of range maps to the nearest limit of ``UnixTime``.
    init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard
            let seconds = CivilCalendar.unixSeconds(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        self.init(seconds: seconds)
    }

    var year: Int { CivilDate(unixNanoseconds: nanoseconds).year }
}
