/// An API key, sent in a header of its own.
public struct APIKeyToken: TokenModel, Hashable, Codable, Redacted {
    /// Redacted whenever the token or its request is printed.
    public let apiKey: String
    /// The name of the header that carries the key.
    public let headerName: String

    /// - Parameters:
    ///   - apiKey: sent unchanged; a control character fails the request (RFC 9110 §5.5).
    ///   - headerName: a header name (a token by RFC 9110 §5.6.2).
    public init(apiKey: String, headerName: String = "X-API-Key") {
        self.apiKey = apiKey
        self.headerName = headerName
    }

    public static var requirement: AuthRequirement { .apiKey }

    public func authorize(_ request: inout HTTPRequest) throws {
        try request.setHeader(headerName, apiKey)
    }

    public func encode() throws -> [UInt8] {
        TokenFields(["key": apiKey, "header": headerName]).encoded
    }

    /// Also reads a token that Nevod stored: `{"apiKey":"…","headerName":"…"}`.
    public static func decode(from data: [UInt8]) throws -> APIKeyToken {
        if let token = StoredByNevod(data)?.apiKey { return token }
        let fields = TokenFields(data)
        return APIKeyToken(apiKey: try fields.value("key"), headerName: try fields.value("header"))
    }
}

extension APIKeyToken: NevodToken {
    static func isFormat(_ stored: StoredByNevod) -> Bool { stored.apiKey != nil }
}
