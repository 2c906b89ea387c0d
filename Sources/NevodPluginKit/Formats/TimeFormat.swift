internal import NevodSupport

/// A way to write a time in UTC.
public enum TimeFormat: CaseIterable, Sendable {
    /// Whole seconds since 1970: `784111777`.
    case unixSeconds
    /// Whole milliseconds since 1970: `784111777123`.
    case unixMilliseconds
    /// An HTTP-date (RFC 9110 §5.6.7), RFC 1123's form: `Sun, 06 Nov 1994 08:49:37 GMT`.
    case httpDate
    /// ISO 8601 in the profile of RFC 3339: `1994-11-06T08:49:37Z`.
    case iso8601
    /// `1994-11-06T08:49:37.123Z`
    case iso8601Milliseconds
    /// ISO 8601's basic form, as AWS writes it: `19941106T084937Z`.
    case iso8601Basic
    /// The day in ISO 8601's basic form: `19941106`.
    case iso8601BasicDate
    /// The day: `1994-11-06`.
    case iso8601Date

    /// The length of the longest text.
    public static let capacity = 32

    /// A time as text. Parts of a second that the format doesn't have are cut off.
    public func text(unixNanoseconds: Int64) -> String {
        var bytes: [UInt8] = []
        bytes.append(time: unixNanoseconds, as: self)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a time: a number with an optional minus sign; an HTTP-date in RFC 1123's form, without checking the day of the week;
    /// or ISO 8601 with `Z`. ``iso8601`` and ``iso8601Milliseconds`` also read what RFC 3339 §5.6 allows: an offset such as
    /// `+02:00`, a fraction, and a space or a lower-case letter in place of `T` and `Z`.
    ///
    /// - Returns: nanoseconds since 1970; nil for another form, for a date that the calendar doesn't have, and for a time that 64
    ///   bits can't hold (they hold the years 1678 to 2261). A leap second counts as the second before it.
    public func unixNanoseconds(_ text: String) -> Int64? {
        var reader = TimeReader(text)
        let seconds: Int64?
        switch self {
        case .unixSeconds: return reader.number(unit: 1_000_000_000)
        case .unixMilliseconds: return reader.number(unit: 1_000_000)
        case .httpDate: seconds = reader.httpDate()
        case .iso8601, .iso8601Milliseconds: return reader.rfc3339()
        case .iso8601Basic: seconds = reader.basic(withTime: true)
        case .iso8601BasicDate: seconds = reader.basic(withTime: false)
        case .iso8601Date: seconds = reader.date()
        }
        return seconds.flatMap { TimeReader.nanoseconds($0, 0) }
    }
}

extension ByteSink where Self: ~Copyable & ~Escapable {
    /// Appends a time in a format.
    @_lifetime(self: copy self)
    public mutating func append(time unixNanoseconds: Int64, as format: TimeFormat) {
        switch format {
        case .unixSeconds: append(decimal: unixNanoseconds.dividedDown(by: 1_000_000_000))
        case .unixMilliseconds: append(decimal: unixNanoseconds.dividedDown(by: 1_000_000))
        default:
            let text = TimeText(unixNanoseconds, format)
            append(text.bytes.span.extracting(first: text.count))
        }
    }
}

extension ByteWriter {
    // The same without generics, because ordinary Swift would not specialize them in another module.
    /// Appends a time in a format.
    @_lifetime(self: copy self)
    public mutating func append(time unixNanoseconds: Int64, as format: TimeFormat) {
        switch format {
        case .unixSeconds: append(decimal: unixNanoseconds.dividedDown(by: 1_000_000_000))
        case .unixMilliseconds: append(decimal: unixNanoseconds.dividedDown(by: 1_000_000))
        default:
            let text = TimeText(unixNanoseconds, format)
            append(text.bytes.span.extracting(first: text.count))
        }
    }
}

/// A date's text while it is built, on the stack.
private struct TimeText {
    private(set) var bytes = InlineArray<32, UInt8>(repeating: 0)
    private(set) var count = 0

    init(_ unixNanoseconds: Int64, _ format: TimeFormat) {
        let date = CivilDate(unixNanoseconds: unixNanoseconds)
        switch format {
        case .unixSeconds, .unixMilliseconds: break
        case .httpDate:
            append("SunMonTueWedThuFriSat", three: date.weekday)
            append(", ")
            append(date.day, digits: 2)
            append(" ")
            append("JanFebMarAprMayJunJulAugSepOctNovDec", three: date.month - 1)
            append(" ")
            append(date.year, digits: 4)
            append(" ")
            append(timeOf: date, ":")
            append(" GMT")
        case .iso8601, .iso8601Milliseconds:
            append(dayOf: date, "-")
            append("T")
            append(timeOf: date, ":")
            if format == .iso8601Milliseconds {
                append(".")
                append(date.nanosecond / 1_000_000, digits: 3)
            }
            append("Z")
        case .iso8601Basic:
            append(dayOf: date, "")
            append("T")
            append(timeOf: date, "")
            append("Z")
        case .iso8601BasicDate: append(dayOf: date, "")
        case .iso8601Date: append(dayOf: date, "-")
        }
    }

    private mutating func append(dayOf date: CivilDate, _ separator: StaticString) {
        append(date.year, digits: 4)
        append(separator)
        append(date.month, digits: 2)
        append(separator)
        append(date.day, digits: 2)
    }

    private mutating func append(timeOf date: CivilDate, _ separator: StaticString) {
        append(date.secondOfDay / 3600, digits: 2)
        append(separator)
        append(date.secondOfDay / 60 % 60, digits: 2)
        append(separator)
        append(date.secondOfDay % 60, digits: 2)
    }

    private mutating func append(_ value: Int, digits: Int) {
        var rest = value
        for place in (count..<count + digits).reversed() {
            bytes[place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    private mutating func append(_ text: StaticString) {
        append(text, 0..<text.utf8CodeUnitCount)
    }

    /// Appends the name at an index of a text in which each name has three letters.
    private mutating func append(_ names: StaticString, three index: Int) {
        append(names, index * 3..<index * 3 + 3)
    }

    private mutating func append(_ text: StaticString, _ range: Range<Int>) {
        for index in range {
            bytes[count] = text.utf8Start[index]
            count += 1
        }
    }
}
