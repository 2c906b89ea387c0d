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

    var format: TimeFormat {
        switch self {
        case .seconds: .unixSeconds
        case .milliseconds: .unixMilliseconds
        case .rfc1123: .httpDate
        case .rfc3339: .iso8601
        case .rfc3339Milliseconds: .iso8601Milliseconds
        }
    }
}
