internal import Foundation
internal import NevodHost

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPRequest {
    /// Converts a request, with its header lines sorted by name: Foundation doesn't keep their order.
    init(_ request: URLRequest) throws(InvalidRequestError) {
        guard let url = request.url else { throw InvalidRequestError(.url(""), "the URLRequest has none") }
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
    /// Takes what a token or an interceptor may change. The rest, such as the timeout, stays.
    mutating func update(from native: HTTPRequest) {
        let changed = URLRequest(native)
        url = changed.url
        httpMethod = changed.httpMethod
        allHTTPHeaderFields = changed.allHTTPHeaderFields
        httpBody = changed.httpBody
    }
}
