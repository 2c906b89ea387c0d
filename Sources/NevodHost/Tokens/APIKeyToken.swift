internal import NevodSupport

/// An API key, sent in its own header.
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

/// An API key, appended to the query.
///
/// Servers write URLs into their logs, so prefer a key in a header (``APIKeyToken``) if the service accepts one.
public struct QueryAPIKeyToken: TokenModel, Hashable, Codable, Redacted {
    /// Redacted whenever the token or its request is printed.
    public let apiKey: String
    /// The name of the query item, not yet encoded.
    public let paramName: String

    /// Name and key are percent-encoded when they are added to the query.
    public init(apiKey: String, paramName: String = "api_key") {
        self.apiKey = apiKey
        self.paramName = paramName
    }

    public static var requirement: AuthRequirement { .apiKey }

    public func authorize(_ request: inout HTTPRequest) throws {
        request.appendQueryItem(paramName.utf8, apiKey.utf8)
    }

    public func encode() throws -> [UInt8] {
        TokenFields(["key": apiKey, "parameter": paramName]).encoded
    }

    /// Also reads a token that Nevod stored: `{"apiKey":"…","paramName":"…"}`.
    public static func decode(from data: [UInt8]) throws -> QueryAPIKeyToken {
        if let token = StoredByNevod(data)?.queryAPIKey { return token }
        let fields = TokenFields(data)
        return QueryAPIKeyToken(apiKey: try fields.value("key"), paramName: try fields.value("parameter"))
    }
}

extension QueryAPIKeyToken: NevodToken {
    static func isFormat(_ stored: StoredByNevod) -> Bool { stored.queryAPIKey != nil }
}
