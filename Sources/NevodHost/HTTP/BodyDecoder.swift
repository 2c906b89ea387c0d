/// Turns the bodies of answers into values: Foundation's `JSONDecoder` is one.
public protocol BodyDecoder: Sendable {
    /// - Parameters:
    ///   - type: what the route promises.
    ///   - body: of an answer of status 200 … 299, whole. An error becomes ``NetworkError/parsingError(_:data:response:)``.
    func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws -> Value
}
