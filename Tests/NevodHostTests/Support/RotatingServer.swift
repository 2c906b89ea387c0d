internal import Glibc
import NevodHost
import NevodSupport
internal import NevodTestSupport

/// An API and its authorization server, which rotates refresh tokens and revokes the whole family if one is reused
/// (RFC 9700 §4.14.2). Its first access token is already expired.
final class RotatingServer: Sendable {
    struct Count: Equatable {
        var api = 0
        var accepted = 0
        var exchanges = 0
        var reuses = 0
    }

    private struct State {
        var generation = 1
        var isRevoked = false
        var isExpired = true
        var count = Count()
        var failures: [String] = []
    }

    private let state: StateBox
    private let server: RawServer
    var url: String { server.url }
    var count: Count { state.value.withLock { $0.count } }

    private final class StateBox: Sendable {
        let value = Locked(State())
    }

    /// - Parameter latency: the maximum latency of the API's responses, in microseconds. Each latency is random, from 0 to this.
    init(latency: UInt32 = 0) throws {
        let state = StateBox()
        self.state = state
        server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let isExchange = request.head.hasPrefix("POST /token ")
                if !isExchange, latency > 0 { usleep(UInt32.random(in: 0..<latency)) }
                let response =
                    isExchange
                    ? Self.exchange(String(decoding: request.body, as: UTF8.self), state) : Self.api(request.head, state)
                guard connection.write(response) else { return }
            }
        }
    }

    static let first = OAuthToken(accessToken: "access-1", refreshToken: "refresh-1")

    /// Sets the next responses of the token endpoint, instead of its own.
    func fail(with responses: [String]) {
        state.value.withLock { $0.failures = responses }
    }

    /// Revokes all access tokens issued so far.
    func expire() {
        state.value.withLock { $0.isExpired = true }
    }

    /// Exchanges the refresh token through a provider, like an embedder.
    func refresh(_ old: OAuthToken?, _ provider: NetworkProvider) async throws -> OAuthToken {
        guard let refreshToken = old?.refreshToken else { throw NetworkError.unauthorized }
        let request = try HTTPRequest(.post, "\(url)/token", body: .bytes(Array(refreshToken.utf8)))
        let response = try await provider.send(request)
        let body = try await response.body.collect()
        guard response.status == 200 else {
            if response.status >= 500 { throw NetworkError.serverError(response.status, data: body, response: response) }
            throw NetworkError.clientError(response.status, data: body, response: response)
        }
        let parts = String(decoding: body, as: UTF8.self).split(separator: " ").map(String.init)
        return OAuthToken(accessToken: parts[0], refreshToken: parts[1])
    }

    private static func exchange(_ refreshToken: String, _ state: StateBox) -> String {
        let failure = state.value.withLock { state -> String? in
            state.count.exchanges += 1
            return state.failures.isEmpty ? nil : state.failures.removeFirst()
        }
        if let failure { return failure }
        return state.value.withLock { state in
            guard !state.isRevoked, refreshToken == "refresh-\(state.generation)" else {
                state.count.reuses += 1
                state.isRevoked = true
                return self.response(400, #"{"error":"invalid_grant"}"#)
            }
            state.generation += 1
            state.isExpired = false
            return self.response(200, "access-\(state.generation) refresh-\(state.generation)")
        }
    }

    private static func api(_ head: String, _ state: StateBox) -> String {
        state.value.withLock { state in
            state.count.api += 1
            let isGood =
                !state.isExpired && !state.isRevoked
                && head.contains("\r\nAuthorization: Bearer access-\(state.generation)\r\n")
            if isGood { state.count.accepted += 1 }
            return isGood ? self.response(200, "ok") : self.response(401, "no")
        }
    }

    static func response(_ status: Int, _ body: String) -> String {
        "HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}
