public import Foundation
internal import NevodHost

/// The default coding of bodies and of stored values: JSON with the names of the Swift properties (camelCase), and dates in ISO
/// 8601.
public enum CodingDefaults {
    /// A new encoder. Dates have whole seconds, in UTC.
    public static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    /// A new decoder. Dates may have fractions of a second, as many servers write them.
    public static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            for style in [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)] {
                if let date = try? style.parse(text) { return date }
            }
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an ISO 8601 date")
        }
        return decoder
    }
}

extension UnixTime {
    /// The accepted values of a NumericDate (RFC 7519 §2), in seconds: the years 1970 to 2255.
    fileprivate static let numericDates = 0...9e9

    /// Creates a time from a NumericDate; nil if it is out of range.
    init?(numericDate seconds: Double) {
        guard Self.numericDates.contains(seconds) else { return nil }
        self.init(nanoseconds: Int64(seconds * 1e9))
    }

    /// Seconds since 1970, including fractions.
    var numericDate: Double { Double(nanoseconds) / 1e9 }
}

extension Date {
    /// Creates a date from a NumericDate; nil if it is out of range. Exact, unlike a date from a `UnixTime`.
    init?(numericDate seconds: Double) {
        guard UnixTime.numericDates.contains(seconds) else { return nil }
        self.init(timeIntervalSince1970: seconds)
    }
}
