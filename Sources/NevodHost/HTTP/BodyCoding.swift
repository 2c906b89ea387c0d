/// Turns values into the bodies of requests: Foundation's `JSONEncoder` is one.
public protocol BodyEncoder: Sendable {
    /// The media type of what ``encode(_:)`` returns (RFC 9110 §8.3.1).
    var contentType: String { get }

    /// The body of a request. An error becomes ``NetworkError/bodyEncodingFailed(_:)``.
    func encode(_ value: some Encodable) throws -> [UInt8]
}

/// Turns the bodies of answers into values: Foundation's `JSONDecoder` is one.
public protocol BodyDecoder: Sendable {
    /// - Parameters:
    ///   - type: what the route promises.
    ///   - body: of an answer of status 200 … 299, whole. An error becomes ``NetworkError/parsingError(_:data:response:)``.
    func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws -> Value
}
