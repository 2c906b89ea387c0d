/// Dates in UTC.
package enum CivilCalendar {
    /// Seconds since 1970-01-01T00:00:00Z; nil for a date that doesn't exist. A leap second counts as the second before it.
    package static func unixSeconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int64? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...9999).contains(year), (1...12).contains(month), (1...lengths[month - 1]).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        // The calendar starts in March here, so that the leap day is a year's last (Howard Hinnant, "chrono-compatible date
        // algorithms").
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = (shifted / 400, shifted % 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return Int64(days * 86_400 + hour * 3600 + minute * 60 + min(second, 59))
    }
}

/// A second of the Gregorian calendar in UTC. It is computed here because a plugin has no Foundation, and `strftime` depends on
/// the locale.
package struct CivilDate: Sendable {
    /// Within 292 years of 1970, the range of nanoseconds in 64 bits.
    package let year: Int
    /// From 1.
    package let month: Int
    /// From 1.
    package let day: Int
    /// From 0, which is Sunday.
    package let weekday: Int
    package let secondOfDay: Int
    /// The fraction of the second, from 0.
    package let nanosecond: Int

    package init(unixNanoseconds: Int64) {
        let seconds = unixNanoseconds.dividedDown(by: 1_000_000_000)
        let rest = unixNanoseconds % 1_000_000_000
        nanosecond = Int(rest < 0 ? rest + 1_000_000_000 : rest)
        let days = Int(seconds.dividedDown(by: 86_400))
        secondOfDay = Int(seconds) - days * 86_400
        weekday = ((days + 4) % 7 + 7) % 7  // 1970 began on a Thursday.
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

extension Int64 {
    /// The quotient, rounded towards negative infinity.
    @inlinable
    package func dividedDown(by divisor: Int64) -> Int64 {
        self / divisor - (self % divisor < 0 ? 1 : 0)
    }
}
