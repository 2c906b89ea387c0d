import NevodHost
import NevodSupport

/// Responds as the server of another program did: with 401 to the first request, and with 204 to one that is authorized anew. It
/// sends nothing.
final class RefusedTransport: HTTPTransport {
    static let refusal = 401
    private let session: CurlSession
    private let challenges: [String]
    private let hasRefused = Locked(false)

    init(session: CurlSession, challenges: [String]) {
        self.session = session
        self.challenges = challenges
    }

    var executor: (any TaskExecutor)? { session.executor }

    func prepare(_ request: inout HTTPRequest) { session.prepare(&request) }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        let isFirst = hasRefused.withLock { hasRefused in
            defer { hasRefused = true }
            return !hasRefused
        }
        guard isFirst else { return Self.response(204, "No Content", HTTPHeaders()) }
        var headers = HTTPHeaders()
        for challenge in challenges { headers.add("WWW-Authenticate", challenge, by: .host) }
        return Self.response(Self.refusal, "Unauthorized", headers)
    }

    private static func response(_ status: Int, _ reason: String, _ headers: HTTPHeaders) -> HTTPResponse {
        HTTPResponse(version: .http11, status: status, reason: reason, headers: headers, body: .bytes([]))
    }
}
