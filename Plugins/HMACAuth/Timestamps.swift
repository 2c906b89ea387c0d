internal import NevodPluginKit

/// The format of the time, in UTC.
enum TimestampFormat: String, CaseIterable, SettingValue {
    /// Since 1970, as milliseconds.
    case seconds, milliseconds
    /// An HTTP-date (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    case rfc1123
    /// `1994-11-06T08:49:37Z`
    case rfc3339
    /// `1994-11-06T08:49:37.123Z`
    case rfc3339Milliseconds = "rfc3339-milliseconds"

    /// The length of the longest text, in a year of four digits.
    static let largestCount = 32
}

extension ByteWriter {
    /// Appends a time.
    ///
    /// - Parameter unixNanoseconds: not negative, as the contract promises.
    @_lifetime(self: copy self)
    mutating func append(_ unixNanoseconds: Int64, _ format: TimestampFormat) {
        switch format {
        case .seconds: append(decimal: unixNanoseconds / 1_000_000_000)
        case .milliseconds: append(decimal: unixNanoseconds / 1_000_000)
        case .rfc1123:
            let date = CivilDate(unixSeconds: unixNanoseconds / 1_000_000_000)
            append(ascii: CivilDate.weekdays[date.weekday])
            append(ascii: ", ")
            append(decimal: date.day, digits: 2)
            append(ascii: CivilDate.months[date.month - 1])
            append(decimal: date.year, digits: 4)
            append(ascii: " ")
            append(timeOf: date)
            append(ascii: " GMT")
        case .rfc3339, .rfc3339Milliseconds:
            let date = CivilDate(unixSeconds: unixNanoseconds / 1_000_000_000)
            append(decimal: date.year, digits: 4)
            append(ascii: "-")
            append(decimal: date.month, digits: 2)
            append(ascii: "-")
            append(decimal: date.day, digits: 2)
            append(ascii: "T")
            append(timeOf: date)
            if format == .rfc3339Milliseconds {
                append(ascii: ".")
                append(decimal: Int(unixNanoseconds / 1_000_000 % 1000), digits: 3)
            }
            append(ascii: "Z")
        }
    }

    @_lifetime(self: copy self)
    private mutating func append(timeOf date: CivilDate) {
        append(decimal: date.secondOfDay / 3600, digits: 2)
        append(ascii: ":")
        append(decimal: date.secondOfDay / 60 % 60, digits: 2)
        append(ascii: ":")
        append(decimal: date.secondOfDay % 60, digits: 2)
    }

    @_lifetime(self: copy self)
    private mutating func append(decimal value: Int, digits: Int) {
        var bound = 10
        for _ in 1..<digits {
            if value < bound { append(ascii: "0") }
            bound *= 10
        }
        append(decimal: Int64(value))
    }
}

/// A day of the Gregorian calendar. Computed here, because a plugin has no Foundation, and `strftime` depends on the locale.
private struct CivilDate {
    let year, month, day, weekday, secondOfDay: Int

    static let weekdays: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months: [StaticString] = [
        " Jan ", " Feb ", " Mar ", " Apr ", " May ", " Jun ", " Jul ", " Aug ", " Sep ", " Oct ", " Nov ", " Dec ",
    ]

    init(unixSeconds: Int64) {
        let days = Int(unixSeconds / 86400)
        secondOfDay = Int(unixSeconds % 86400)
        weekday = (days + 4) % 7  // 1970 began on a Thursday.
        // Years begin in March here, so that the leap day is a year's last. Counted from 0000-03-01, in eras of 400 years.
        let shifted = days + 719_468
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + shifted / 146_097 * 400 + (month < 3 ? 1 : 0)
    }
}
