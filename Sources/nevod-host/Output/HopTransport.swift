import NevodHost

/// Sends the requests of one operation through the session, records each in the operation's log, and traces it with `-v`: the
/// request as it is sent, and the head of its response as soon as it is complete.
struct HopTransport: HTTPTransport {
    let session: CurlSession
    let log: HopLog
    let console: Console
    /// Whether the log needs the connections' details, without `-v` as well.
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
