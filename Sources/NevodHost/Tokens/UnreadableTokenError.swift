/// The stored bytes can't be decoded as a token of the expected type.
public struct UnreadableTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The field that is missing.
    public let missing: String

    public var description: String {
        "the stored token has no \(missing): it is damaged, or of another type; clear it, or use another key"
    }
}

/// The former name of ``UnreadableTokenError``.
@available(*, deprecated, renamed: "UnreadableTokenError")
public typealias UnreadableToken = UnreadableTokenError
