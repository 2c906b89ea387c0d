import NevodHost

/// Sends a flow's requests through the session and traces the address and outcome of each, without bodies and queries, which are
/// secret.
struct LoginTransport: HTTPTransport {
    let session: CurlSession
    let reporter: LoginReporter
    let console: Console
    let connectTimeout: Duration
    /// The lines that the command's requests have, too: a session may be bound to them.
    let client: ClientLines

    var executor: (any TaskExecutor)? { session.executor }

    var decodesContent: Bool { session.decodesContent }

    func prepare(_ request: inout HTTPRequest) {
        session.prepare(&request)
    }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        reporter.willSend(to: request.origin)
        var request = request
        client.add(to: &request)
        Redaction.shared.learn(request)
        var options = options
        options.connectTimeout = connectTimeout
        let what = "login: \(request.method) \(request.origin)\(request.target.prefix { $0 != "?" })"
        do throws(TransportError) {
            let response = try await session.send(request, options)
            console.trace("*", "\(what): \(response.status)")
            return response
        } catch {
            console.trace("*", "\(what): \(error)")
            throw error
        }
    }
}
