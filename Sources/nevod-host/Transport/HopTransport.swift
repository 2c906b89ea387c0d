import NevodHost
import NevodSupport

/// Sends the requests of one operation through the session and records each in the operation's log. With `-v`, traces each
/// request as it is sent, and the head of its response as soon as that is complete.
struct HopTransport: HTTPTransport {
    let session: CurlSession
    let log: HopLog
    let console: Console
    /// Whether the log needs the connections' details even without `-v`.
    var recordsConnections = false

    var executor: (any TaskExecutor)? { session.executor }

    var decodesContent: Bool { session.decodesContent }

    func prepare(_ request: inout HTTPRequest) {
        session.prepare(&request)
    }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        Redaction.shared.learn(request)
        let hop = log.append(request)
        if console.isVerbose { console.trace(">", redacted: Redaction.shared.head(of: request) + [""]) }
        var options = options
        let (log, console) = (log, console)
        if console.isVerbose || recordsConnections {
            let origin = request.origin
            options.onConnection = { connection in
                log.update(hop) { $0.connection = connection }
                for line in connection.lines(for: origin) { console.trace("*", line) }
            }
        }
        options.onMetrics = { metrics in log.update(hop) { $0.metrics = metrics } }
        do throws(TransportError) {
            let response = try await session.send(request, options)
            log.update(hop) { $0.response = Hop.head(of: response) }
            if console.isVerbose { console.trace("<", redacted: Redaction.shared.head(of: response) + [""]) }
            return response
        } catch {
            log.update(hop) { $0.error = error }
            throw error
        }
    }
}

/// The transfers of one operation in order: redirects, retries and responses to challenges. A login's own requests are not among
/// them.
///
/// ``HopTransport`` fills it, on the session's thread.
final class HopLog: Sendable {
    private let log = Locked<[Hop]>([])
    private let path = Locked<String?>(nil)

    /// The file that the body is written to; nil for standard output, and before the file is chosen.
    var file: String? {
        get { path.withLock { $0 } }
        set { path.withLock { $0 = newValue } }
    }

    var hops: [Hop] { log.withLock { $0 } }

    /// The latest hop; nil before the first request is sent.
    var last: Hop? { log.withLock { $0.last } }

    /// Adds a hop.
    ///
    /// - Returns: its index, for ``update(_:_:)``.
    func append(_ request: HTTPRequest) -> Int {
        log.withLock { hops in
            hops.append(Hop(request, after: hops.last))
            return hops.count - 1
        }
    }

    func update(_ index: Int, _ change: (inout Hop) -> Void) {
        log.withLock { hops in
            guard hops.indices.contains(index) else { return }
            change(&hops[index])
        }
    }
}

/// One transfer of an operation: the request as sent, and the response or failure.
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

    /// The request without its body. It holds the credentials: show it only through ``Redaction``.
    let request: HTTPRequest
    let reason: Reason
    /// The response without its body; nil if none arrived.
    var response: HTTPResponse?
    /// The transfer's failure, even after the response had begun.
    var error: TransportError?
    /// Nil before the response begins, and if neither `-v` nor `-w` shows it.
    var connection: ConnectionDetails?
    /// Nil until the body has been read to its end.
    var metrics: TransferMetrics?
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

extension ConnectionDetails {
    /// The lines of `-v` about a connection.
    ///
    ///     connected to example.com (192.0.2.1) port 443
    ///     TLSv1.3, TLS_AES_256_GCM_SHA384
    ///     certificate of CN = example.com, issued by C = US, O = Example, expires 2027-01-31T12:00:00Z
    func lines(for origin: Origin) -> [String] {
        guard !remoteAddress.isEmpty else { return [] }
        let place = proxy.map { "the proxy \($0)" } ?? origin.host
        let port = remotePort > 0 ? " port \(remotePort)" : ""
        var lines = ["\(isReused ? "reusing the connection" : "connected") to \(place) (\(remoteAddress))\(port)"]
        guard let tls else { return lines }
        lines.append("\(tls.version), \(tls.cipher)")
        // The certificate was checked when the connection was made.
        guard !isReused, let certificate = tls.certificate else { return lines }
        let subject = certificate.subject.isEmpty ? "no subject" : certificate.subject
        lines.append(
            "certificate of \(subject), issued by \(certificate.issuer), expires \(StoredSession.text(of: certificate.notAfter))")
        return lines
    }
}
