import NevodSupport
import NevodTestSupport
import Testing

/// A server on 127.0.0.1. A test sets its response, and it keeps what it receives.
final class ScriptedServer: Sendable {
    struct Response: Sendable {
        var status = 200
        var headers: [String] = []
        var body = ""
    }

    private struct State {
        var response = Response()
        var byPath: [String: Response] = [:]
        var requests: [(line: String, head: String, body: String)] = []
        /// Closed while requests must wait.
        var gate: Latch?
    }

    /// Outlives the server while a connection is served.
    private final class Shared: Sendable {
        let state = Locked(State())
    }

    private let shared = Shared()
    private let server: RawServer
    var url: String { server.url }

    init(_ response: Response = Response()) throws {
        let shared = shared
        shared.state.withLock { $0.response = response }
        server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let line = request.head.split(separator: "\r\n").first.map(String.init) ?? ""
                let path = line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                let (response, gate) = shared.state.withLock { state in
                    state.requests.append((line, request.head, String(decoding: request.body, as: UTF8.self)))
                    return (state.byPath[path] ?? state.response, state.gate)
                }
                gate?.waitOnThread()
                let head =
                    ["HTTP/1.1 \(response.status) Status", "Content-Length: \(response.body.utf8.count)"] + response.headers
                connection.write(head.joined(separator: "\r\n") + "\r\n\r\n" + response.body)
            }
        }
    }

    func respond(_ response: Response, at path: String? = nil) {
        shared.state.withLock { state in
            if let path { state.byPath[path] = response } else { state.response = response }
        }
    }

    /// From now on, requests wait until the latch is set.
    func hold() -> Latch {
        let gate = Latch()
        shared.state.withLock { $0.gate = gate }
        return gate
    }

    var requests: [(line: String, head: String, body: String)] { shared.state.withLock { $0.requests } }
    var count: Int { requests.count }
}
