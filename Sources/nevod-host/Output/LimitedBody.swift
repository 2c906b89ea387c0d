import NevodHost
import NevodSupport

extension HTTPResponse {
    /// Returns the same response with another body.
    func replacingBody(_ body: HTTPResponseStream) -> HTTPResponse {
        HTTPResponse(version: version, status: status, reason: reason, headers: headers, body: .stream(body))
    }
}

extension HTTPResponseStream {
    /// Returns a stream of the same pieces that fails after more than `limit` bytes.
    func limited(to limit: Int64, failure: TransportError) -> HTTPResponseStream {
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
