/// A bearer token (RFC 6750 §2.1): `Authorization: Bearer …`.
public struct Token: TokenModel, Hashable, Redacted {
    /// The token without the `Bearer` scheme. Redacted whenever the token or its request is printed.
    public let value: String

    /// - Parameter value: sent unchanged; a control character fails the request (RFC 9110 §5.5).
    public init(value: String) {
        self.value = value
    }

    public func authorize(_ request: inout HTTPRequest) throws {
        try request.setHeader("Authorization", "Bearer \(value)")
    }

    public func encode() throws -> [UInt8] { Array(value.utf8) }

    public static func decode(from data: [UInt8]) throws -> Token {
        Token(value: String(decoding: data, as: UTF8.self))
    }
}
