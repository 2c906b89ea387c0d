internal import Foundation
internal import NevodHost

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPResponse {
    /// Converts a response, without its body. Foundation provides neither the version nor the reason phrase, nor the order of
    /// the lines.
    init(_ response: HTTPURLResponse) {
        var lines = HTTPHeaders()
        let fields = response.allHeaderFields.compactMap { name, value in
            (name as? String).map { (name: $0, value: "\(value)") }
        }
        for field in fields.sorted(by: { $0.name < $1.name }) { lines.add(field.name, field.value, by: .host) }
        self.init(version: .http11, status: response.statusCode, reason: "", headers: lines, body: .bytes([]))
    }

    func withBody(_ body: HTTPResponseBody) -> HTTPResponse {
        HTTPResponse(version: version, status: status, reason: reason, headers: headers, body: body)
    }
}
