/// A request method (RFC 9110 §9), case-sensitive.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    /// Nil for what is no token (RFC 9110 §5.6.2).
    public init?(rawValue: String) {
        guard HTTPSyntax.isToken(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    public init(validating text: String) throws(InvalidRequest) {
        guard let method = HTTPMethod(rawValue: text) else {
            throw InvalidRequest(.method(text), "it is not a token (RFC 9110 §5.6.2)")
        }
        self = method
    }

    private init(known: String) {
        rawValue = known
    }

    public static let get = HTTPMethod(known: "GET")
    public static let head = HTTPMethod(known: "HEAD")
    public static let post = HTTPMethod(known: "POST")
    public static let put = HTTPMethod(known: "PUT")
    public static let patch = HTTPMethod(known: "PATCH")
    public static let delete = HTTPMethod(known: "DELETE")
    public static let options = HTTPMethod(known: "OPTIONS")

    /// Methods whose content has a meaning, so that its absence is said with `Content-Length: 0` (RFC 9110 §8.6).
    var anticipatesContent: Bool {
        self == .post || self == .put || self == .patch
    }
}

extension HTTPMethod: CustomStringConvertible {
    public var description: String { rawValue }
}
