/// A bearer token (RFC 6750 §2.1): `Authorization: Bearer …`.
public struct Token: TokenModel, Hashable, Redacted {
    public let value: String

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
