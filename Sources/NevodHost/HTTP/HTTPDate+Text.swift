extension HTTPDate {
    /// Formats a date as IMF-fixdate, the form that senders must generate (RFC 9110 §5.6.7).
    static func text(_ time: UnixTime) -> String {
        func padded(_ number: Int, _ count: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        let (days, second) = (time.seconds.flooredDivision(by: 86_400))
        let (year, month, day) = time.civil
        let weekday = weekdays[Int((days + 4).flooredDivision(by: 7).remainder)]
        let clock = [second / 3600, second / 60 % 60, second % 60].map { padded(Int($0)) }.joined(separator: ":")
        return "\(weekday), \(padded(day)) \(months[month - 1]) \(padded(year, 4)) \(clock) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
