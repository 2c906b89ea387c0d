/// A key that goes into a header of its own.
public struct APIKeyToken: TokenModel, Hashable, Redacted {
    /// Redacted wherever the token or its request is printed.
    public let apiKey: String
    /// The header that the key goes into.
    public let headerName: String

    /// - Parameters:
    ///   - apiKey: sent as it is; a control character fails the request (RFC 9110 §5.5).
    ///   - headerName: a token in the sense of RFC 9110 §5.6.2.
    public init(apiKey: String, headerName: String = "X-API-Key") {
        self.apiKey = apiKey
        self.headerName = headerName
    }

    public func authorize(_ request: inout HTTPRequest) throws {
        try request.setHeader(headerName, apiKey)
    }

    public func encode() throws -> [UInt8] {
        TokenFields(["key": apiKey, "header": headerName]).encoded
    }

    public static func decode(from data: [UInt8]) throws -> APIKeyToken {
        let fields = TokenFields(data)
        return APIKeyToken(apiKey: try fields.value("key"), headerName: try fields.value("header"))
    }
}
