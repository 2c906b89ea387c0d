internal import NevodSupport

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

    var year: Int { civil.year }

    /// The date in UTC.
    var civil: (year: Int, month: Int, day: Int) {
        let days = Int((Double(seconds) / 86_400).rounded(.down)) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
