/// Decodes response bodies into values. Foundation's `JSONDecoder` conforms.
public protocol BodyDecoder: Sendable {
    /// Returns the value in a response body. A thrown error becomes ``NetworkError/parsingError(_:data:response:)``.
    ///
    /// - Parameters:
    ///   - type: the route's `Response`.
    ///   - body: the complete body of a response with status 200 … 299.
    func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws -> Value
}
