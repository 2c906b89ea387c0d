/// Turns values into the bodies of requests: Foundation's `JSONEncoder` is one.
public protocol BodyEncoder: Sendable {
    /// The media type of what ``encode(_:)`` returns (RFC 9110 §8.3.1).
    var contentType: String { get }

    func encode(_ value: some Encodable) throws -> [UInt8]
}

/// Turns the bodies of answers into values: Foundation's `JSONDecoder` is one.
public protocol BodyDecoder: Sendable {
    func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws -> Value
}
