internal import Foundation
internal import NevodHost
internal import NevodSupport

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLRequest {
    init(sending request: HTTPRequest, _ body: [UInt8]) throws(TransportError) {
        guard let url = URL(targetOf: request) else { throw TransportError(.other, "Foundation can't represent the URL") }
        self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        // Disables this timeout, which applies between two bytes, in whole seconds. `URLTransfer` has a timer for the whole
        // transfer.
        timeoutInterval = 365 * 24 * 3600
        httpShouldHandleCookies = false
        httpMethod = request.method.rawValue
        var fields = request.headers.mergedFields
        // Foundation sets these itself, from the body.
        fields["content-length"] = nil
        fields["transfer-encoding"] = nil
        // Only this setter preserves the case of names.
        allHTTPHeaderFields = Dictionary(fields.values.map { ($0.name, $0.value) }) { first, _ in first }
        if !body.isEmpty {
            guard request.method != .get else {
                throw TransportError(.requestBody, "URLSession sends no body with GET; CurlSession does")
            }
            httpBody = Data(body)
        }
    }
}

extension HTTPBody {
    /// - Throws: `.requestBody` if the body exceeds 64 MiB, its reader fails, or its length isn't the announced one.
    func collectForUpload() async throws(TransportError) -> [UInt8] {
        switch self {
        case .none: return []
        case .bytes(let bytes): return bytes
        case .stream(let stream):
            let maxBytes = 64 << 20
            let tooLong = TransportError(
                .requestBody, "URLSession sends at most 64 MiB of a stream; CurlSession has no limit")
            guard stream.length ?? 0 <= maxBytes else { throw tooLong }
            var bytes: [UInt8] = []
            do {
                let reader = try stream.makeReader()
                while case let piece = try await reader.read(upTo: 64 << 10), !piece.isEmpty {
                    bytes += piece
                    guard bytes.count <= maxBytes else { throw tooLong }
                    if let length = stream.length, bytes.count > length { break }
                    try Task.checkCancellation()
                }
            } catch let error as TransportError {
                throw error
            } catch is CancellationError {
                throw TransportError(.cancelled)
            } catch {
                throw TransportError(.requestBody, "\(error)")
            }
            if let length = stream.length, bytes.count != length {
                let delivered = bytes.count < length ? "only \(bytes.count) of" : "more than the declared"
                throw TransportError(.requestBody, "its reader delivered \(delivered) \(length) bytes")
            }
            return bytes
        }
    }
}

extension URL {
    /// Percent-encodes the few characters of the target that Foundation rejects. A single one left as it is would make Foundation
    /// encode the whole URL again, even `%2F`.
    init?(targetOf request: HTTPRequest) {
        var text = "\(request.origin)"
        let bytes = Array(request.target.utf8)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "["): text += "%5B"
            case UInt8(ascii: "]"): text += "%5D"
            case UInt8(ascii: "%") where PercentEncoding.byte(escapedAt: index, in: bytes.span) == nil: text += "%25"
            default: text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        self.init(string: text, encodingInvalidCharacters: false)
    }
}

extension HTTPHeaders {
    /// The lines as Foundation stores them, with one value for each name. Keys are lower-case names; each name is spelled as in
    /// its first line.
    var mergedFields: [String: (name: String, value: String)] {
        var fields: [String: (name: String, value: String)] = [:]
        for line in self {
            let key = line.name.lowercased()
            if let field = fields[key] {
                let separator = key == "cookie" ? "; " : ", "
                fields[key] = (field.name, field.value + separator + line.value)
            } else {
                fields[key] = (line.name, line.value)
            }
        }
        return fields
    }
}

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
