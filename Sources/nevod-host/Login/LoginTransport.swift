import NevodHost

/// Sends a flow's requests through the session, and tells of each: where to, and how it ended. What a flow sends is secret, and
/// so is the query of its address.
struct LoginTransport: HTTPTransport {
    let session: CurlSession
    let notes: LoginNotes
    let console: Console
    let connectTimeout: Duration

    var executor: (any TaskExecutor)? { session.executor }

    func prepare(_ request: inout HTTPRequest) {
        session.prepare(&request)
    }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        notes.willSend(to: request.origin)
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
