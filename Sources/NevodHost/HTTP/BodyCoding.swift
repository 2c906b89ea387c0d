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

/// Takes the place of a coder that a configuration lacks. Throws an error that says how to set it.
struct MissingCoder: BodyEncoder, BodyDecoder {
    struct Failure: Error, CustomStringConvertible {
        let property: String

        var description: String {
            "the configuration has no \(property); set NetworkConfig.\(property), or import NevodHostFoundation and use "
                + "NetworkConfig(environments:timeout:jsonEncoder:jsonDecoder:)"
        }
    }

    var contentType: String { "application/octet-stream" }

    func body(of value: some Encodable) throws -> [UInt8] {
        throw Failure(property: "encoder")
    }

    func value<Value: Decodable>(_ type: Value.Type, in body: [UInt8]) throws -> Value {
        throw Failure(property: "decoder")
    }
}

/// A type that takes the body of a response without a decoder. As a route's `Response`, it needs no decoder in the configuration.
///
/// Conforming types are `[UInt8]`, `String`, ``EmptyResponse``, and, with `NevodHostFoundation`, `Data`.
public protocol UndecodedBody {
    /// Creates a value from the complete body of a response with status 200 … 299. The body is empty if the response has none. A
    /// thrown error becomes ``NetworkError/parsingError(_:data:response:)``.
    init(undecodedBody body: [UInt8]) throws
}

extension Array: UndecodedBody where Element == UInt8 {
    public init(undecodedBody body: [UInt8]) {
        self = body
    }
}

extension String: UndecodedBody {
    /// Throws if the body is not valid UTF-8.
    public init(undecodedBody body: [UInt8]) throws {
        guard let text = String(validating: body, as: UTF8.self) else { throw NotUTF8() }
        self = text
    }

    private struct NotUTF8: Error, CustomStringConvertible {
        var description: String { "it is not valid UTF-8; use [UInt8] as the route's Response" }
    }
}
