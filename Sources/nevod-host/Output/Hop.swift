import NevodHost

/// One transfer of an operation: the request as it was sent, and what came back.
struct Hop: Sendable {
    /// Why the request was sent.
    enum Reason: Sendable {
        /// It is the operation's first.
        case first
        /// The previous response is a redirect.
        case redirect
        /// The previous response asked for credentials (401 or 407), and they were obtained or renewed.
        case challenge
        /// The previous attempt failed temporarily.
        case retry
    }

    /// The request without its body. It holds the credentials: show only what ``Redaction`` makes of it.
    let request: HTTPRequest
    let reason: Reason
    /// The response without its body; nil if none arrived.
    var response: HTTPResponse?
    /// The failure of the transfer, also of one whose response had begun.
    var error: TransportError?
    /// Nil until the response begins, and unless `-v` or `-w` shows it.
    var connection: ConnectionDetails?
    /// Nil until the body was received, and if it was not read to its end.
    var metrics: TransferMetrics?

    /// Whether the request carried a credential: one of a plugin or a token, or the caller's own line of a credential's field.
    var carriedCredential: Bool { request.carriesCredentials }
}

extension Hop {
    /// - Parameters:
    ///   - request: as passed to the transport.
    ///   - previous: the operation's previous hop.
    init(_ request: HTTPRequest, after previous: Hop?) {
        var withoutBody = request
        withoutBody.body = .none
        self.request = withoutBody
        reason = Self.reason(after: previous)
    }

    static func head(of response: HTTPResponse) -> HTTPResponse {
        HTTPResponse(
            version: response.version, status: response.status, reason: response.reason, headers: response.headers,
            body: .bytes([]))
    }

    private static func reason(after previous: Hop?) -> Reason {
        guard let previous else { return .first }
        return switch previous.response?.status {
        case 301, 302, 303, 307, 308: .redirect
        case 401, 407: .challenge
        default: .retry
        }
    }
}
