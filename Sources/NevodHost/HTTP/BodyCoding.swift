/// Encodes values into request bodies. Foundation's `JSONEncoder` conforms.
///
/// Its method isn't named `encode`: an overload that differs only in its result would make `let data = try
/// JSONEncoder().encode(value)` ambiguous in every program.
public protocol BodyEncoder: Sendable {
    /// The media type of what ``body(of:)`` returns (RFC 9110 §8.3.1).
    var contentType: String { get }

    /// Returns the request body for a value. A thrown error becomes ``NetworkError/bodyEncodingFailed(_:)``.
    func body(of value: some Encodable) throws -> [UInt8]
}

/// Decodes response bodies into values. Foundation's `JSONDecoder` conforms.
///
/// Its method isn't named `decode`, which would overload `JSONDecoder`'s method.
public protocol BodyDecoder: Sendable {
    /// Returns the value in a response body. A thrown error becomes ``NetworkError/parsingError(_:data:response:)``.
    ///
    /// - Parameters:
    ///   - type: the route's `Response`.
    ///   - body: the complete body of a response with status 200 … 299.
    func value<Value: Decodable>(_ type: Value.Type, in body: [UInt8]) throws -> Value
}
