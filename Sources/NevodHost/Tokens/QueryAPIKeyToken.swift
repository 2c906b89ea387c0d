/// A key that goes into the query, once, behind what stands there.
///
/// Servers write URLs into their logs: a key in a header is the better choice wherever there is one.
public struct QueryAPIKeyToken: TokenModel, Hashable, Redacted {
    /// Redacted wherever the token or its request is printed.
    public let apiKey: String
    /// The name before the key in the query, not encoded.
    public let paramName: String

    /// Name and key are percent-encoded when they are written.
    public init(apiKey: String, paramName: String = "api_key") {
        self.apiKey = apiKey
        self.paramName = paramName
    }

    public func authorize(_ request: inout HTTPRequest) throws {
        request.appendQueryItem(paramName.utf8, apiKey.utf8)
    }

    public func encode() throws -> [UInt8] {
        TokenFields(["key": apiKey, "parameter": paramName]).encoded
    }

    public static func decode(from data: [UInt8]) throws -> QueryAPIKeyToken {
        let fields = TokenFields(data)
        return QueryAPIKeyToken(apiKey: try fields.value("key"), paramName: try fields.value("parameter"))
    }
}
