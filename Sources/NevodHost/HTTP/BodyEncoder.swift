/// Encodes values into request bodies. Foundation's `JSONEncoder` conforms.
public protocol BodyEncoder: Sendable {
    /// The media type of what ``encode(_:)`` returns (RFC 9110 §8.3.1).
    var contentType: String { get }

    /// Returns the request body for a value. A thrown error becomes ``NetworkError/bodyEncodingFailed(_:)``.
    func encode(_ value: some Encodable) throws -> [UInt8]
}
