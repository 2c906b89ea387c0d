internal import NevodSupport

/// A bearer token (RFC 6750 §2.1): `Authorization: Bearer …`.
public struct Token: TokenModel, Hashable, Codable, Redacted {
    /// The token without the `Bearer` scheme. Redacted whenever the token or its request is printed.
    public var value: String

    /// - Parameter value: sent unchanged; a control character fails the request (RFC 9110 §5.5).
    public init(value: String) {
        self.value = value
    }

    public func authorize(_ request: inout HTTPRequest) throws {
        try request.setHeader("Authorization", "Bearer \(value)")
    }

    public func encode() throws -> [UInt8] {
        let bytes = Array(value.utf8)
        // A value that looks like Nevod's JSON is wrapped in it, so that decoding returns the value unchanged.
        guard StoredByNevod(bytes)?.bearer != nil else { return bytes }
        return JSONValue.object([JSONValue.Member("value", .string(value))]).encoded.copied(as: [UInt8].self)
    }

    /// Also reads a token that Nevod stored: `{"value":"…"}`. Any other bytes are the token itself, even if they are JSON.
    public static func decode(from data: [UInt8]) throws -> Token {
        Token(value: StoredByNevod(data)?.bearer ?? String(decoding: data, as: UTF8.self))
    }
}

extension Token: NevodToken {
    static func isFormat(_ stored: StoredByNevod) -> Bool { stored.bearer != nil }
}

/// A user name and a password, sent with each request (RFC 7617).
public struct BasicCredential: TokenModel {
    private let userAndPassword: Secret

    /// - Parameter userAndPassword: `name:password` in UTF-8; the first colon ends the name.
    public init(_ userAndPassword: Secret) {
        self.userAndPassword = userAndPassword
    }

    public static var requirement: AuthRequirement { .basic }

    public func authorize(_ request: inout HTTPRequest) throws {
        try request.setHeader("Authorization", "Basic " + userAndPassword.withUnsafeBytes { Base64.encoded($0) })
    }

    public func encode() throws -> [UInt8] {
        userAndPassword.withUnsafeBytes { Array($0) }
    }

    public static func decode(from data: [UInt8]) throws -> BasicCredential {
        BasicCredential(Secret(copying: data))
    }
}
