internal import NevodPluginKit
internal import NevodSupport

/// The format of a time in a recipe, in UTC.
enum TimeStyle: Sendable, Equatable {
    case standard(TimeFormat)
    case microseconds, nanoseconds
    /// Seconds with a number of decimals.
    case decimal(Int)
    /// A text with `%Y` and the like.
    case pattern(Range<Int>)

    static let names: [String] = [
        "seconds", "milliseconds", "microseconds", "nanoseconds", "decimal:N", "rfc1123", "rfc3339", "rfc3339-milliseconds",
        "basic",
        "date", "basic-date", "format:PATTERN",
    ]

    /// The letters that may follow a `%` in a pattern.
    static let letters = "YymdHMSLfabe%"

    init?(plain name: String) {
        switch name {
        case "seconds": self = .standard(.unixSeconds)
        case "milliseconds": self = .standard(.unixMilliseconds)
        case "microseconds": self = .microseconds
        case "nanoseconds": self = .nanoseconds
        case "rfc1123": self = .standard(.httpDate)
        case "rfc3339": self = .standard(.iso8601)
        case "rfc3339-milliseconds": self = .standard(.iso8601Milliseconds)
        case "basic": self = .standard(.iso8601Basic)
        case "date": self = .standard(.iso8601Date)
        case "basic-date": self = .standard(.iso8601BasicDate)
        default: return nil
        }
    }
}

extension TemplateReader {
    /// The offset in seconds of `time`, `time+60` or `time-5`; nil for another text.
    static func timeOffset(_ name: [UInt8]) -> Int? {
        guard name.starts(with: "time".utf8) else { return nil }
        let rest = name[4...]
        guard let sign = rest.first else { return 0 }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
            let seconds = TemplateText.Word(bytes: Array(rest.dropFirst()), start: 0).number
        else { return nil }
        return sign == UInt8(ascii: "-") ? -seconds : seconds
    }

    /// Reads the format of a time, which follows it like a filter.
    static func time(
        _ offset: Int, _ chain: [[TemplateText.Word]], _ text: TemplateText, _ reader: inout RecipeReader
    ) throws(RecipeError) -> (Recipe.Source, Filter?, Int) {
        let formats = TimeStyle.names.joined(separator: ", ")
        guard chain.count > 1 else {
            throw text.error("a time without a format, such as {time|seconds}; use one of \(formats)", at: chain[0][0].start)
        }
        let words = chain[1]
        var style: TimeStyle?
        if words.count == 1 {
            style = TimeStyle(plain: words[0].text)
        } else if words.count == 2, words[0].text == "decimal", let digits = words[1].number, (1...9).contains(digits) {
            style = .decimal(digits)
        } else if words[0].text == "format" {
            // A colon within the pattern needs no escape.
            let pattern = Array(words.dropFirst().map { $0.bytes }.joined(separator: [UInt8(ascii: ":")]))
            var isLetter = false
            for byte in pattern {
                if isLetter, !TimeStyle.letters.utf8.contains(byte) {
                    throw text.error("a time's pattern has %Y %y %m %d %e %H %M %S %L %f %a %b and %%", at: words[1].start)
                }
                isLetter = !isLetter && byte == UInt8(ascii: "%")
            }
            guard !isLetter else {
                throw text.error("a time's pattern ends with %; write %% for a literal one", at: words[1].start)
            }
            style = .pattern(reader.store(pattern))
        }
        guard let style else {
            throw text.error("an unknown time format, \"\(words[0].text)\"; use one of \(formats)", at: words[0].start)
        }
        return (.time(offset: Int64(offset) * 1_000_000_000, style), nil, 2)
    }
}

extension Signer {
    /// Appends a time in UTC. Digits that don't fit the format are cut off, not rounded.
    @_lifetime(text: copy text)
    func append(_ time: Int64, _ style: TimeStyle, _ text: inout ByteWriter) {
        switch style {
        case .standard(let format): text.append(time: time, as: format)
        case .microseconds: text.append(decimal: time.dividedDown(by: 1000))
        case .nanoseconds: text.append(decimal: time)
        case .decimal(let digits):
            let seconds = time.dividedDown(by: 1_000_000_000)
            text.append(decimal: seconds)
            text.append(ascii: ".")
            Self.append(Int(time - seconds * 1_000_000_000), digits: 9, kept: digits, &text)
        case .pattern(let range): append(CivilDate(unixNanoseconds: time), recipe.bytes[range], &text)
        }
    }

    @_lifetime(text: copy text)
    private func append(_ date: CivilDate, _ pattern: ArraySlice<UInt8>, _ text: inout ByteWriter) {
        var isLetter = false
        for byte in pattern {
            guard isLetter else {
                isLetter = byte == UInt8(ascii: "%")
                if !isLetter { text.append(byte: byte) }
                continue
            }
            isLetter = false
            switch byte {
            case UInt8(ascii: "Y"): Self.append(date.year, digits: 4, kept: 4, &text)
            case UInt8(ascii: "y"): Self.append(date.year % 100, digits: 2, kept: 2, &text)
            case UInt8(ascii: "m"): Self.append(date.month, digits: 2, kept: 2, &text)
            case UInt8(ascii: "d"): Self.append(date.day, digits: 2, kept: 2, &text)
            case UInt8(ascii: "e"): text.append(decimal: Int64(date.day))
            case UInt8(ascii: "H"): Self.append(date.secondOfDay / 3600, digits: 2, kept: 2, &text)
            case UInt8(ascii: "M"): Self.append(date.secondOfDay / 60 % 60, digits: 2, kept: 2, &text)
            case UInt8(ascii: "S"): Self.append(date.secondOfDay % 60, digits: 2, kept: 2, &text)
            case UInt8(ascii: "L"): Self.append(date.nanosecond, digits: 9, kept: 3, &text)
            case UInt8(ascii: "f"): Self.append(date.nanosecond, digits: 9, kept: 6, &text)
            case UInt8(ascii: "a"): Self.append("SunMonTueWedThuFriSat", three: date.weekday, &text)
            case UInt8(ascii: "b"): Self.append("JanFebMarAprMayJunJulAugSepOctNovDec", three: date.month - 1, &text)
            default: text.append(byte: byte)
            }
        }
    }

    /// Appends the first `kept` digits of a number that is written with `digits` digits.
    @_lifetime(text: copy text)
    private static func append(_ value: Int, digits: Int, kept: Int, _ text: inout ByteWriter) {
        var unit = 1
        for _ in 1..<digits { unit *= 10 }
        for _ in 0..<kept {
            text.append(byte: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / unit % 10))
            unit /= 10
        }
    }

    /// Appends the name at an index of a text in which each name has three letters.
    @_lifetime(text: copy text)
    private static func append(_ names: StaticString, three index: Int, _ text: inout ByteWriter) {
        let names = UnsafeBufferPointer(start: names.utf8Start, count: names.utf8CodeUnitCount)
        for letter in 0..<3 { text.append(byte: names[index * 3 + letter]) }
    }
}
