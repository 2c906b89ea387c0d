public import Foundation

/// The coding of bodies, and of what is stored, wherever a client of this module is given none: JSON with the names of the Swift
/// properties (camelCase), and dates in ISO 8601.
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
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "it is no date in ISO 8601")
        }
        return decoder
    }
}
