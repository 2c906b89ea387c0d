/// Turns values into the bodies of requests: Foundation's `JSONEncoder` is one.
public protocol BodyEncoder: Sendable {
    /// The media type of what ``encode(_:)`` returns (RFC 9110 §8.3.1).
    var contentType: String { get }

    /// The body of a request. An error becomes ``NetworkError/bodyEncodingFailed(_:)``.
    func encode(_ value: some Encodable) throws -> [UInt8]
}
