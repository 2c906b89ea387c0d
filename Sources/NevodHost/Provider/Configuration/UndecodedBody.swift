/// A type that takes the body of a response without a decoder. As a route's `Response`, it needs no decoder in the configuration.
///
/// Conforming types are `[UInt8]`, `String`, ``EmptyResponse``, and, with `NevodHostFoundation`, `Data`.
public protocol UndecodedBody {
    /// Creates a value from a complete body, empty if the response has none, of a response with status 200 … 299. A thrown error
    /// becomes ``NetworkError/parsingError(_:data:response:)``.
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
