/// A key that goes into a header of its own.
public struct APIKeyToken: TokenModel, Hashable, Redacted {
    public let apiKey: String
    public let headerName: String

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
