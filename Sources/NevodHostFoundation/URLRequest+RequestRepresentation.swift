public import NevodHost

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// So that a token can be written against `URLRequest`:
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
/// What it finds: the method, the URL, the header lines (those of one name merged), and a body in memory; a streamed body
/// is not shown. What it may change: the method, header lines, the body (`httpBody`), and the query, to which it can add
/// items. Those alone are the token's; the rest of the request stays byte for byte, however Foundation spells it.
extension URLRequest: RequestRepresentation {
    public init(_ request: HTTPRequest) {
        // Nothing that passes for a URL in an HTTPRequest is known to be none for Foundation.
        self.init(url: URL(targetOf: request) ?? URL(fileURLWithPath: "/"))
        httpMethod = request.method.rawValue
        allHTTPHeaderFields = Dictionary(request.headers.mergedFields.values.map { ($0.name, $0.value) }) { first, _ in first }
        if case .bytes(let bytes) = request.body { httpBody = Data(bytes) }
    }

    /// - Throws: ``InvalidRequestError`` for a change that a request can't take: another host or path, a query of which items
    ///   are missing or moved, a header line that may not stand in a request, a body as a stream.
    public func write(to request: inout HTTPRequest) throws {
        let before = URLRequest(request)
        let items = try addedQueryItems(since: before, to: request)
        if httpMethod != before.httpMethod { request.method = try HTTPMethod(validating: httpMethod ?? "GET") }
        try writeFields(changedSince: before, to: &request)
        try writeBody(changedSince: before, to: &request)
        for item in items { request.appendEncodedQueryItem(Array(item.utf8)) }
    }

    /// Foundation's answer: header lines of one name are merged, and of several Set-Cookie lines not all survive.
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
            // addValue joins with a comma: what stands before it is not the token's.
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
        // The host derives them anew.
        request.removeHeader("Content-Length")
        request.removeHeader("Transfer-Encoding")
    }

    /// The items of the query that were not there before, as Foundation spells them. Items are compared decoded:
    /// URLComponents spells what it finds in its own way.
    private func addedQueryItems(since before: URLRequest, to request: HTTPRequest) throws -> [Substring] {
        guard url != before.url else { return [] }
        let refused = InvalidRequestError(.url("\(request.origin)"), "an authorisation may only add items to the query")
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
