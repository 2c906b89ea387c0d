import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// A site that accepts a change only with its latest token. It issues the token in every place that the settings may name.
final class CSRFSite: Sendable {
    struct State {
        var logins = 0
        var token = 1
        var pages = 0
        var changes = 0
        /// The response to a wrong token.
        var refusal = ScriptedServer.Response(status: 419)
        /// The token that the server requires, whatever it issued.
        var isStubborn = false
    }
    private final class Box: Sendable { let value = Locked(State()) }
    private let box = Box()
    let server: ScriptedServer
    var url: String { server.url }
    var state: State { box.value.withLock { $0 } }
    /// Makes the tokens issued so far stale.
    func renew() { box.value.withLock { $0.token += 1 } }
    func refuse(with response: ScriptedServer.Response, stubbornly: Bool = false) {
        box.value.withLock { ($0.refusal, $0.isStubborn) = (response, stubbornly) }
    }

    init() throws {
        let box = box
        server = try ScriptedServer { request in
            box.value.withLock { state in
                switch request.line {
                case "POST /login":
                    state.logins += 1
                    return .page("Hello", "Set-Cookie: sid=1; Path=/", "Set-Cookie: csrftoken=c%2D\(state.token); Path=/")
                case "GET /plain": return .page("nothing")
                case _ where request.method == "GET":
                    state.pages += 1
                    let token = "t-\(state.token)"
                    if request.target == "/api/token" { return .json(200, #"{"a":[{"csrf":"\#(token)"}]}"#) }
                    return .page(
                        """
                        <meta name=csrf-token content='\(token)'>
                        <form><input type=hidden name=csrfmiddlewaretoken value='\(token)'></form>
                        <script>window.config = {"token": "\(token)", "x": 1}</script>
                        """, "X-CSRF-Token: \(token)", "Set-Cookie: csrftoken=c%2D\(state.token); Path=/")
                default:
                    let all = request.text + " " + request.headers.map { "\($0.value)" }.joined(separator: " ")
                    let isValid = all.contains("t-\(state.token)") || all.contains("c-\(state.token)")
                    if state.isStubborn { state.token += 1 }
                    if state.isStubborn || !isValid { return state.refusal }
                    state.changes += 1
                    return .page("done")
                }
            }
        }
    }

    func session(_ settings: [(String, String)]) throws -> SchemeSession {
        try CookieLogins.session(at: server, [("success", "200")] + settings)
    }

    var last: ScriptedServer.Request? { server.requests.last { $0.target == "/change" } }
}

extension SchemeSession {
    /// Sends a request with the session, and returns the status.
    func send(
        _ url: String, _ method: HTTPMethod = .post, body: String = "", _ headers: [String: String] = [:]
    ) async throws -> Int {
        var request = try HTTPRequest(method, url, body: body.isEmpty ? .none : .bytes(Array(body.utf8)))
        for (name, value) in headers { try request.setHeader(name, value) }
        return try await provider().send(request).status
    }
}
