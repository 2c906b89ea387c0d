/// Encodes values into request bodies. Foundation's `JSONEncoder` conforms.
///
/// Its method isn't named `encode`: an overload that differs in its result only would make `let data = try
/// JSONEncoder().encode(value)` ambiguous in every program.
public protocol BodyEncoder: Sendable {
    /// The media type of what ``body(of:)`` returns (RFC 9110 §8.3.1).
    var contentType: String { get }

    /// Returns the request body for a value. A thrown error becomes ``NetworkError/bodyEncodingFailed(_:)``.
    func body(of value: some Encodable) throws -> [UInt8]
}
