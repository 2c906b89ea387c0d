/// Decodes response bodies into values. Foundation's `JSONDecoder` conforms.
///
/// Its method isn't named `decode`, since that would be an overload of the method of `JSONDecoder`.
public protocol BodyDecoder: Sendable {
    /// Returns the value in a response body. A thrown error becomes ``NetworkError/parsingError(_:data:response:)``.
    ///
    /// - Parameters:
    ///   - type: the route's `Response`.
    ///   - body: the complete body of a response with status 200 … 299.
    func value<Value: Decodable>(_ type: Value.Type, in body: [UInt8]) throws -> Value
}
