/// A type that takes the body of an answer as it is. A route with such a `Response` needs no decoder.
///
/// `[UInt8]`, `String`, ``EmptyResponse``, and Foundation's `Data` with `NevodHostFoundation`.
public protocol UndecodedBody {
    /// Whole, and of an answer of status 200 … 299; empty if the answer has none. An error becomes
    /// ``NetworkError/parsingError(_:data:response:)``.
    init(undecodedBody body: [UInt8]) throws
}

extension Array: UndecodedBody where Element == UInt8 {
    public init(undecodedBody body: [UInt8]) {
        self = body
    }
}

extension String: UndecodedBody {
    /// Fails for what is not UTF-8.
    public init(undecodedBody body: [UInt8]) throws {
        guard let text = String(validating: body, as: UTF8.self) else { throw NotUTF8() }
        self = text
    }

    private struct NotUTF8: Error, CustomStringConvertible {
        var description: String { "it is not UTF-8; take it as [UInt8]" }
    }
}
