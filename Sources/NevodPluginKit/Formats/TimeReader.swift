internal import NevodSupport

/// Reads times from left to right.
struct TimeReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    private var isAtEnd: Bool { offset == bytes.count }

    mutating func number(unit: Int64) -> Int64? {
        let isNegative = take(UInt8(ascii: "-"))
        var value: Int64 = 0
        guard !isAtEnd, bytes.count < 24 else { return nil }
        while !isAtEnd {
            guard let digit = digit() else { return nil }
            let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (next, overflows) = tens.addingReportingOverflow(Int64(digit))
            if isTooLarge || overflows { return nil }
            value = next
        }
        let (nanoseconds, overflows) = (isNegative ? -value : value).multipliedReportingOverflow(by: unit)
        return overflows ? nil : nanoseconds
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    mutating func httpDate() -> Int64? {
        guard name("SunMonTueWedThuFriSat") != nil, take(", "), let day = number(2), take(" "),
            let month = name("JanFebMarAprMayJunJulAugSepOctNovDec"), take(" "), let year = number(4), take(" "),
            let time = time(":"), take(" GMT"), isAtEnd
        else { return nil }
        return seconds(year, month + 1, day, time)
    }

    /// `19941106T084937Z`, or its day alone.
    mutating func basic(withTime: Bool) -> Int64? {
        guard let year = number(4), let month = number(2), let day = number(2) else { return nil }
        guard withTime else { return isAtEnd ? seconds(year, month, day, (0, 0, 0)) : nil }
        guard take("T"), let time = time(""), take("Z"), isAtEnd else { return nil }
        return seconds(year, month, day, time)
    }

    /// `1994-11-06`
    mutating func date() -> Int64? {
        guard let date = day(), isAtEnd else { return nil }
        return seconds(date.year, date.month, date.day, (0, 0, 0))
    }

    /// `1994-11-06T08:49:37.5+02:00` in nanoseconds. Digits after the ninth of a fraction are ignored.
    mutating func rfc3339() -> Int64? {
        guard let date = day(), take("T") || take("t") || take(" "), let time = time(":") else { return nil }
        var (fraction, unit): (Int64, Int64) = (0, 100_000_000)
        if take(".") {
            guard let first = digit() else { return nil }
            fraction = Int64(first) * unit
            while let digit = digit() {
                unit /= 10
                fraction += Int64(digit) * unit
            }
        }
        var shift: Int64 = 0
        if !take("Z"), !take("z") {
            let isAhead = take("+")
            guard isAhead || take("-"), let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
                return nil
            }
            shift = Int64(hours * 3600 + minutes * 60) * (isAhead ? -1 : 1)
        }
        guard isAtEnd, let seconds = seconds(date.year, date.month, date.day, time) else { return nil }
        return Self.nanoseconds(seconds + shift, fraction)
    }

    /// - Returns: nil if the sum doesn't fit.
    static func nanoseconds(_ seconds: Int64, _ fraction: Int64) -> Int64? {
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = product.addingReportingOverflow(fraction)
        return isTooLarge || overflows ? nil : sum
    }

    private func seconds(_ year: Int, _ month: Int, _ day: Int, _ time: (hour: Int, minute: Int, second: Int)) -> Int64? {
        CivilCalendar.unixSeconds(
            year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    }

    private mutating func day() -> (year: Int, month: Int, day: Int)? {
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2) else { return nil }
        return (year, month, day)
    }

    private mutating func time(_ separator: StaticString) -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = number(2), take(separator), let minute = number(2), take(separator), let second = number(2) else {
            return nil
        }
        return (hour, minute, second)
    }

    private mutating func number(_ digits: Int) -> Int? {
        var value = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    private mutating func digit() -> Int? {
        guard offset < bytes.count, bytes[offset].isDigit else { return nil }
        defer { offset += 1 }
        return Int(bytes[offset] - UInt8(ascii: "0"))
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func take(_ text: StaticString) -> Bool {
        guard bytes.count - offset >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[offset + index] != text.utf8Start[index] { return false }
        offset += text.utf8CodeUnitCount
        return true
    }

    /// Reads one of the names, each of three letters, and returns its index.
    private mutating func name(_ names: StaticString) -> Int? {
        guard bytes.count - offset >= 3 else { return nil }
        for index in 0..<names.utf8CodeUnitCount / 3 {
            let matches = (0..<3).allSatisfy { bytes[offset + $0] == names.utf8Start[index * 3 + $0] }
            if matches {
                offset += 3
                return index
            }
        }
        return nil
    }
}
