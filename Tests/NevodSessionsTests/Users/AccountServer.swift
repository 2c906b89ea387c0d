import Foundation
import NevodSessions
import NevodSupport
import NevodTestSupport

/// A service for many users. It judges whether each request's bearer is the user named by the path and the body. An access token
/// works a few times, and a refresh token once.
final class AccountServer: Sendable {
    fileprivate struct State {
        var number = 0
        var uses: [String: Int] = [:]
        var refreshTokens: Set<String> = []
        var requests = 0
        var violations: [String] = []
        var renewals = 0
        var redirects = 0
        /// Called during the response to a renewal.
        var duringRenewal: (@Sendable () -> Void)?
    }

    fileprivate final class Shared: Sendable {
        let state = Locked(State())
        let uses: Int
        init(uses: Int) { self.uses = uses }
    }

    private let shared: Shared
    private let server: RawServer
    var url: String { server.url }
    var requests: Int { shared.state.withLock { $0.requests } }
    var renewals: Int { shared.state.withLock { $0.renewals } }
    var redirects: Int { shared.state.withLock { $0.redirects } }
    var violations: [String] { shared.state.withLock { $0.violations } }

    /// - Parameter uses: how often each access token works.
    init(uses: Int) throws {
        let shared = Shared(uses: uses)
        self.shared = shared
        server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let (status, header, body) = shared.respond(to: request)
                connection.write(
                    "HTTP/1.1 \(status) Status\r\nContent-Type: application/json\r\n\(header)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
            }
        }
    }

    /// A login's result.
    func logIn(_ user: String) -> AuthTokens {
        let (access, refresh) = shared.state.withLock { shared.issue(to: user, &$0) }
        return AuthTokens(accessToken: access, refreshToken: refresh)
    }

    func duringRenewal(_ body: (@Sendable () -> Void)?) {
        shared.state.withLock { $0.duringRenewal = body }
    }
}

extension AccountServer.Shared {
    /// Tokens name their user, so that even an invalid one can be judged.
    fileprivate func issue(to user: String, _ state: inout AccountServer.State) -> (String, String) {
        state.number += 1
        let (access, refresh) = ("\(user).a.\(state.number)", "\(user).r.\(state.number)")
        state.uses[access] = uses
        state.refreshTokens.insert(refresh)
        return (access, refresh)
    }

    fileprivate func respond(to request: RawConnection.Request) -> (Int, String, String) {
        let lines = request.head.split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        let path = words[1].split(separator: "/").map(String.init)
        let body = (try? JSONDecoder().decode([String: String].self, from: Data(request.body))) ?? [:]
        if path == ["auth", "refresh"] {
            state.withLock { $0.duringRenewal }?()
            return state.withLock { state in
                state.renewals += 1
                guard let token = body["refreshToken"], state.refreshTokens.remove(token) != nil else { return (401, "", "{}") }
                let (access, refresh) = issue(to: String(token.prefix { $0 != "." }), &state)
                return (200, "", #"{"accessToken": "\#(access)", "refreshToken": "\#(refresh)"}"#)
            }
        }
        let field = "authorization: bearer "
        let bearer = lines.first { $0.lowercased().hasPrefix(field) }.map { String($0.dropFirst(field.count)) }
        return state.withLock { state in
            state.requests += 1
            let user = path[1]
            if let bearer, bearer.prefix(while: { $0 != "." }) != user || body["user"] != user {
                state.violations.append("\(bearer) for \(user), whose body is \(body)")
            }
            guard let bearer, let uses = state.uses[bearer], uses > 0 else { return (401, "", "{}") }
            state.uses[bearer] = uses - 1
            if path.last != "moved", state.requests.isMultiple(of: 40) {
                state.redirects += 1
                return (307, "Location: /u/\(user)/moved\r\n", "")
            }
            return (200, "", #"{"user": "\#(bearer.prefix { $0 != "." })"}"#)
        }
    }
}
