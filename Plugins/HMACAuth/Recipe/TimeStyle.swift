internal import NevodPluginKit

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

    /// The letters that may stand behind a `%` in a pattern.
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

/// The format of a nonce, with its length in characters.
enum NonceStyle: Sendable, Equatable {
    case hex(Int)
    case digits(Int)
    case alphanumeric(Int)
    case lowercase(Int)
    case bytes(Int)
    case uuid

    static let names = ["hex:N", "digits:N", "alphanumeric:N", "lowercase:N", "uuid", "bytes:N"]

    /// 32 hexadecimal digits.
    static let standard = NonceStyle.hex(32)
}
