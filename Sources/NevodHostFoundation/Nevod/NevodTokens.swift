public import Foundation
public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension TokenModel {
    /// Puts the token on a `URLRequest`, outside a provider.
    ///
    /// - Returns: the same request. (The result tells this method apart from the one that a token must implement.)
    /// - Throws: the token's errors; `InvalidRequestError` for a request that can't be sent, such as one without a URL.
    @discardableResult
    public func authorize(_ request: inout URLRequest) throws -> URLRequest {
        if var own = request as? Request {
            try authorize(&own)
            if let authorized = own as? URLRequest { request = authorized }
            return request
        }
        var native = try HTTPRequest(request)
        var shaped = Request(native)
        try authorize(&shaped)
        try shaped.write(to: &native)
        request.update(from: native)
        return request
    }
}

extension TokenModel where Encoded == [UInt8] {
    /// The token's bytes as `Data`.
    public func encode() throws -> Data {
        let bytes: [UInt8] = try encode()
        return Data(bytes)
    }

    /// Decodes a token from `Data`.
    public static func decode(from data: Data) throws -> Self {
        try decode(from: Array(data))
    }
}

extension TokenStorage {
    /// Saves a token, or removes the stored one if nil; see `TokenStorage.clear()`.
    public func save(_ token: Token?) async throws {
        if let token { try await save(token) } else { try await clear() }
    }
}

extension NevodNamed where Self == CookieToken {
    /// The cookies as Foundation's, except cookies that it rejects.
    @_disfavoredOverload  // If the context gives no type, the property is NevodHost's.
    public var sessionCookies: [HTTPCookie] {
        self.NevodHost::sessionCookies.compactMap { HTTPCookie($0) }
    }
}

extension RequestInterceptor {
    /// Applies the interceptor to a `URLRequest`, outside a provider. Nothing is sent.
    ///
    /// - Parameters:
    ///   - request: its body, if any, must be in memory (`httpBody`).
    ///   - attempt: the number of the attempt for the interceptor, from 1.
    /// - Throws: the interceptor's errors; `InvalidRequestError` for a request that can't be sent, such as one without a URL.
    public func adapt(_ request: URLRequest, attempt: Int = 1) async throws -> URLRequest {
        var request = request
        request.update(from: try await adapted(HTTPRequest(request), attempt: attempt))
        return request
    }
}

extension HeadersInterceptor {
    /// Adds a User-Agent (RFC 9110 §10.1.5).
    public static func userAgent(_ userAgent: String) -> HeadersInterceptor {
        HeadersInterceptor(headers: ["User-Agent": userAgent])
    }

    /// Adds a header with the version of the API that the program was written for.
    public static func apiVersion(_ version: String, headerName: String = "X-API-Version") -> HeadersInterceptor {
        HeadersInterceptor(headers: [headerName: version])
    }
}

extension HTTPRequest {
    /// Converts a request, with its header lines sorted by name: Foundation doesn't keep their order.
    init(_ request: URLRequest) throws(InvalidRequestError) {
        guard let url = request.url else { throw InvalidRequestError(.url(""), "the URLRequest has no URL") }
        guard request.httpBodyStream == nil else {
            throw InvalidRequestError(.body, "the URLRequest has an httpBodyStream, which can be read only once; set httpBody")
        }
        try self.init(
            HTTPMethod(validating: request.httpMethod ?? "GET"), url.absoluteString,
            body: request.httpBody.map { .bytes(Array($0)) } ?? .none)
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            try setHeader(name, value)
        }
    }
}

extension URLRequest {
    /// Takes over what a token or an interceptor may change. The rest, such as the timeout, stays.
    mutating func update(from native: HTTPRequest) {
        let changed = URLRequest(native)
        url = changed.url
        httpMethod = changed.httpMethod
        allHTTPHeaderFields = changed.allHTTPHeaderFields
        httpBody = changed.httpBody
    }
}
