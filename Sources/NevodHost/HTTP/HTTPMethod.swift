/// A request method (RFC 9110 §9), case-sensitive.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    /// Nil if the text is not a token (RFC 9110 §5.6.2).
    public init?(rawValue: String) {
        guard HTTPSyntax.isToken(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// Creates a method; throws an error with the reason if the text is not a token.
    public init(validating text: String) throws(InvalidRequestError) {
        guard let method = HTTPMethod(rawValue: text) else {
            throw InvalidRequestError(.method(text), "it is not a token (RFC 9110 §5.6.2)")
        }
        self = method
    }

    private init(known: String) {
        rawValue = known
    }

    /// Reads the target, without side effects (RFC 9110 §9.3.1).
    public static let get = HTTPMethod(known: "GET")
    /// GET without the response body (RFC 9110 §9.3.2).
    public static let head = HTTPMethod(known: "HEAD")
    /// Submits the body for processing by the target; not idempotent (RFC 9110 §9.3.3).
    public static let post = HTTPMethod(known: "POST")
    /// Replaces the target; idempotent (RFC 9110 §9.3.4).
    public static let put = HTTPMethod(known: "PUT")
    /// Modifies part of the target; not idempotent (RFC 5789 §2).
    public static let patch = HTTPMethod(known: "PATCH")
    /// Removes the target; idempotent (RFC 9110 §9.3.5).
    public static let delete = HTTPMethod(known: "DELETE")
    /// Queries the target's capabilities, without side effects (RFC 9110 §9.3.7).
    public static let options = HTTPMethod(known: "OPTIONS")

    /// Whether the method defines a meaning for a body, so that an empty one is sent as `Content-Length: 0` (RFC 9110 §8.6).
    var anticipatesContent: Bool {
        self == .post || self == .put || self == .patch
    }
}

extension HTTPMethod: CustomStringConvertible {
    public var description: String { rawValue }
}
