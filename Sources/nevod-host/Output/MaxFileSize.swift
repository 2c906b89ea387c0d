import NevodHost
import NevodSupport

/// `--max-filesize`
extension SessionBuilder {
    /// Returns the largest allowed response body in bytes; `.max` without `--max-filesize`.
    func maxFileSize() throws -> Int64 {
        guard let text = arguments.value(.maxFileSize) else { return .max }
        guard let size = Int64(digits: text.utf8) else {
            throw UsageError("--max-filesize \(text) is not a number of bytes")
        }
        return size
    }
}

extension ResponseWriter {
    /// Returns the response with a body that fails as soon as the declared or received length exceeds the limit.
    func limited(_ response: HTTPResponse) throws -> HTTPResponse {
        let limit = try SessionBuilder(arguments: arguments).maxFileSize()
        guard limit < .max, case .stream(let pieces) = response.body else { return response }
        let tooLarge = TransportError(.bodyTooLarge(limit: Int(limit)), curlCode: 63)
        if let length = response.headers["Content-Length"].flatMap({ Int64($0) }), length > limit { throw tooLarge }
        return response.replacingBody(pieces.limited(to: limit, failure: tooLarge))
    }
}

extension HTTPResponseStream {
    /// Returns a stream of the same pieces that fails after more than `limit` bytes.
    fileprivate func limited(to limit: Int64, failure: TransportError) -> HTTPResponseStream {
        let received = Count()
        return HTTPResponseStream { () async throws(TransportError) in
            guard let piece = try await next() else { return nil }
            guard received.add(piece.count) <= limit else { throw failure }
            return piece
        }
    }
}

private final class Count: Sendable {
    private let total = Locked<Int64>(0)

    func add(_ count: Int) -> Int64 {
        total.withLock {
            $0 += Int64(count)
            return $0
        }
    }
}
