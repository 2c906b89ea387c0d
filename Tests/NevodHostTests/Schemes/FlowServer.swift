import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// A server that issues `t<n>` for a login or a refresh, and whose API accepts only the last one.
final class FlowServer: Sendable {
    struct State {
        var issued = 0
        var calls: [String] = []
        var isExpired = false
        /// The API's response to any token but the last.
        var refusal = "401 X\r\n"
        /// Responses of /refresh before it works.
        var refusals: [Int] = []
        var refusesLogins = false
        /// A flow's refusal waits for this.
        var refusesAfter: Latch?
        /// The API's first responses, by number. Later ones follow its own rules.
        var script: [String] = []
        var apiTokens: [String] = []
        var nonces: [String] = []
    }

    private final class Box: Sendable { let value = Locked(State()) }
    private let box = Box()
    private let server: RawServer
    var url: String { server.url }
    var state: State { box.value.withLock { $0 } }
    func change(_ body: @Sendable (inout State) -> Void) { box.value.withLock { body(&$0) } }

    init() throws {
        let box = box
        server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let path = String(request.head.split(separator: " ")[1])
                let body = String(decoding: request.body, as: UTF8.self)
                if path != "/api" { box.value.withLock { $0.refusesAfter }?.waitOnThread() }
                let response = box.value.withLock { state in Self.response(path, body, request.head, &state) }
                guard connection.write(response) else { return }
            }
        }
    }

    private static func response(_ path: String, _ body: String, _ head: String, _ state: inout State) -> String {
        func http(_ status: Int, _ body: String = "", _ line: String = "") -> String {
            "HTTP/1.1 \(status) X\r\n\(line)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        func field(_ name: String) -> String {
            head.split(separator: "\r\n").first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
                ?? ""
        }
        switch path {
        case "/login", "/refresh", "/challenge", "/logout":
            state.calls.append("\(path) \(body)")
            if path != "/login", !state.refusals.isEmpty { return http(state.refusals.removeFirst()) }
            if path == "/login", state.refusesLogins { return http(400) }
            if path == "/logout" { return http(200) }
            state.issued += 1
            state.isExpired = false
            return http(200, "t\(state.issued)")
        default:
            state.apiTokens.append(field("X-Token"))
            state.nonces.append("\(field("X-Nonce")) \(field("X-Count"))")
            if !state.script.isEmpty { return state.script.removeFirst() }
            if !state.isExpired && field("X-Token") == "t\(state.issued)" { return http(200) }
            return "HTTP/1.1 \(state.refusal)Content-Length: 0\r\n\r\n"
        }
    }
}
