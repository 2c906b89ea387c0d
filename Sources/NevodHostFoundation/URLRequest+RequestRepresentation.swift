public import NevodHost

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Lets a token authorize a `URLRequest`:
///
/// ```swift
/// import FoundationNetworking
/// import NevodHost
/// import NevodHostFoundation
///
/// struct BearerToken: TokenModel {
///     let value: String
///
///     func authorize(_ request: inout URLRequest) throws {
///         request.setValue("Bearer \(value)", forHTTPHeaderField: "Authorization")
///     }
///     func encode() throws -> [UInt8] { Array(value.utf8) }
///     static func decode(from data: [UInt8]) throws -> Self { Self(value: String(decoding: data, as: UTF8.self)) }
/// }
/// ```
///
/// The token sees the method, the URL, the header lines (lines of one name are merged) and the body (`httpBody`). A body that is
/// read while it is sent, such as a form with several parts, is read into memory for the token, up to 64 MiB. A token that
/// doesn't read the body declares that with `readsBody`, and then sees no such body.
///
/// The token may change the method, the header lines and the body, and may add items to the query. Only its changes are carried
/// over. The rest of the request stays the same, byte for byte, however Foundation spells it.
extension URLRequest: RequestRepresentation {
    public init(_ request: HTTPRequest) {
        // The fallback should never be needed: Foundation accepts every known valid target of an HTTPRequest as a URL.
        self.init(url: URL(targetOf: request) ?? URL(fileURLWithPath: "/"))
        httpMethod = request.method.rawValue
        allHTTPHeaderFields = Dictionary(request.headers.mergedFields.values.map { ($0.name, $0.value) }) { first, _ in first }
        if case .bytes(let bytes) = request.body { httpBody = Data(bytes) }
    }

    /// - Throws: ``InvalidRequestError`` for a change that can't be carried over: another host or path, query items that were
    ///   removed or moved, an invalid header line, a body as a stream.
    public func write(to request: inout HTTPRequest) throws {
        let before = URLRequest(request)
        let items = try addedQueryItems(since: before, to: request)
        if httpMethod != before.httpMethod { request.method = try HTTPMethod(validating: httpMethod ?? "GET") }
        try writeFields(changedSince: before, to: &request)
        try writeBody(changedSince: before, to: &request)
        for item in items { request.appendEncodedQueryItem(Array(item.utf8)) }
    }

    /// Converts a response for Foundation, which merges header lines of one name and loses some of several Set-Cookie lines.
    public static func response(_ response: HTTPResponse, to request: HTTPRequest) -> HTTPURLResponse? {
        URL(targetOf: request).flatMap { url in
            HTTPURLResponse(
                url: url, statusCode: response.status, httpVersion: "HTTP/\(response.version.rawValue)",
                headerFields: Dictionary(response.headers.mergedFields.values.map { ($0.name, $0.value) }) { first, _ in first })
        }
    }

    private func writeFields(changedSince before: URLRequest, to request: inout HTTPRequest) throws {
        func byKey(_ fields: [String: String]?) -> [String: (name: String, value: String)] {
            Dictionary((fields ?? [:]).map { ($0.key.lowercased(), ($0.key, $0.value)) }) { first, _ in first }
        }
        let (old, new) = (byKey(before.allHTTPHeaderFields), byKey(allHTTPHeaderFields))
        for (key, field) in old where new[key] == nil { request.removeHeader(field.name) }
        for (key, field) in new.sorted(by: { $0.key < $1.key }) where field.value != old[key]?.value {
            // addValue appends a comma and a value: only the part after the comma is the token's.
            if let value = old[key]?.value, !value.isEmpty, key != "cookie", field.value.hasPrefix(value + ",") {
                try request.addHeader(field.name, String(field.value.dropFirst(value.count + 1)))
            } else {
                try request.setHeader(field.name, field.value)
            }
        }
    }

    private func writeBody(changedSince before: URLRequest, to request: inout HTTPRequest) throws {
        guard httpBodyStream == nil else {
            throw InvalidRequestError(.body, "the URLRequest has an httpBodyStream, which can't be carried over; set httpBody")
        }
        guard httpBody != before.httpBody else { return }
        request.body = httpBody.map { .bytes(Array($0)) } ?? .none
        // The host sets these again from the new body.
        request.removeHeader("Content-Length")
        request.removeHeader("Transfer-Encoding")
    }

    /// Returns the added query items, as Foundation spells them. Compares items in decoded form, since URLComponents may encode
    /// existing ones differently.
    private func addedQueryItems(since before: URLRequest, to request: HTTPRequest) throws -> [Substring] {
        guard url != before.url else { return [] }
        let refused = InvalidRequestError(.url("\(request.origin)"), "a token may only add items to the query of a URLRequest")
        guard let new = url?.parts, let old = before.url?.parts, new.base == old.base else { throw refused }
        var rest = old.items[...]
        let added = new.items.filter { item in
            guard let next = rest.first, next.decoded == item.decoded else { return true }
            rest = rest.dropFirst()
            return false
        }
        guard rest.isEmpty else { throw refused }
        return added
    }
}

extension URL {
    fileprivate var parts: (base: String, items: [Substring]) {
        let text = absoluteString.prefix { $0 != "#" }
        let base = text.prefix { $0 != "?" }
        return (base.decoded, text.dropFirst(base.count + 1).split(separator: "&"))
    }
}

extension Substring {
    fileprivate var decoded: String { removingPercentEncoding ?? String(self) }
}

extension AuthenticationInterceptor {
    /// Creates an interceptor with a predicate on `URLRequest`.
    ///
    /// - Parameters:
    ///   - shouldAuthenticate: returns whether a request may carry the token.
    ///   - provides: the route requirements that the token meets.
    public init(
        tokenStorage: TokenStorage<Token>, refreshStrategy: @escaping RefreshStrategy,
        shouldAuthenticate: @escaping @Sendable (URLRequest) -> Bool,
        provides: Set<AuthRequirement> = [Token.requirement], logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            tokenStorage: tokenStorage, refreshStrategy: refreshStrategy,
            shouldAuthenticate: { request in shouldAuthenticate(URLRequest(request)) }, provides: provides, logger: logger)
    }
}

extension CookieAuthenticationInterceptor {
    /// Creates an interceptor with a predicate on `URLRequest`.
    ///
    /// - Parameters:
    ///   - shouldAuthenticate: returns whether a request may carry the session's cookies.
    ///   - provides: the route requirements that the session meets.
    public init(
        cookieStorage: TokenStorage<CookieToken>, loginStrategy: @escaping @Sendable () async throws -> CookieToken,
        shouldAuthenticate: @escaping @Sendable (URLRequest) -> Bool,
        provides: Set<AuthRequirement> = [CookieToken.requirement], logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            cookieStorage: cookieStorage, loginStrategy: loginStrategy,
            shouldAuthenticate: { request in shouldAuthenticate(URLRequest(request)) }, provides: provides, logger: logger)
    }

    /// Creates an interceptor for a server that signals an expired session by something other than status 401.
    ///
    /// - Parameters:
    ///   - shouldAuthenticate: returns whether a request may carry the session's cookies.
    ///   - isSessionOver: returns whether a response means that the session has expired. Called before a redirect is followed.
    ///   - provides: the route requirements that the session meets.
    public init(
        cookieStorage: TokenStorage<CookieToken>, loginStrategy: @escaping @Sendable () async throws -> CookieToken,
        shouldAuthenticate: @escaping @Sendable (URLRequest) -> Bool,
        isSessionOver: @escaping @Sendable (HTTPResponse) -> Bool,
        provides: Set<AuthRequirement> = [CookieToken.requirement], logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            cookieStorage: cookieStorage, loginStrategy: loginStrategy,
            shouldAuthenticate: { request in shouldAuthenticate(URLRequest(request)) }, isSessionOver: isSessionOver,
            provides: provides, logger: logger)
    }
}
