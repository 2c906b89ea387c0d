import NevodHost
import NevodSupport
internal import NevodTestSupport
import Testing

/// An API and its token endpoint (RFC 6749 §5), which rotates refresh tokens and revokes the whole family if one is reused. A
/// test can make the token endpoint misbehave.
final class OAuthTokenServer: Sendable {
    /// The token endpoint's reaction to the next request, before it exchanges anything.
    enum Fault: Sendable, CustomTestStringConvertible {
        case respond(_ status: Int, _ body: String, _ lines: [String] = [])
        /// Closes the connection without a response.
        case close
        /// Closes the connection in the middle of a response.
        case cut

        var testDescription: String {
            switch self {
            case .respond(let status, let body, let lines): "\(status) \(body.prefix(40)) \(lines.joined())"
            case .close: "closed"
            case .cut: "cut"
            }
        }
    }

    private struct State {
        var generation = 1
        var isRevoked = false
        var isExpired = true
        var exchanges = 0
        var reuses = 0
        var faults: [Fault] = []
    }

    private final class Box: Sendable {
        let state = Locked(State())
    }

    private let box: Box
    private let server: RawServer
    var url: String { server.url }
    var exchanges: Int { box.state.withLock { $0.exchanges } }
    var reuses: Int { box.state.withLock { $0.reuses } }

    static let first = OAuthToken(accessToken: "access-1", refreshToken: "refresh-1", scope: "orders")

    init() throws {
        let box = Box()
        self.box = box
        server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                guard request.head.hasPrefix("POST /token ") else {
                    guard connection.write(Self.api(request.head, box)) else { return }
                    continue
                }
                let fault = box.state.withLock { state -> Fault? in
                    state.exchanges += 1
                    return state.faults.isEmpty ? nil : state.faults.removeFirst()
                }
                switch fault {
                case .close?: return
                case .cut?:
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"access_token\":\"half")
                    return
                case .respond(let status, let body, let lines)?: connection.write(Self.response(status, body, lines))
                case nil: connection.write(Self.exchange(String(decoding: request.body, as: UTF8.self), box))
                }
            }
        }
    }

    func fail(with faults: [Fault]) {
        box.state.withLock { $0.faults = faults }
    }

    func client(provider: NetworkProvider = NetworkProvider(session: CurlSession())) throws -> OAuthClient {
        try OAuthClient(server: OAuthServer(tokenEndpoint: "\(url)/token"), clientID: "app", provider: provider)
    }

    /// A provider for the API. The client renews its token.
    func provider(_ storage: TokenStorage<OAuthToken>, _ client: OAuthClient) -> NetworkProvider {
        NetworkProvider(
            session: CurlSession(),
            interceptor: AuthenticationInterceptor(tokenStorage: storage, refreshStrategy: client.refresh))
    }

    private static func exchange(_ form: String, _ box: Box) -> String {
        box.state.withLock { state in
            let isCurrent = form.split(separator: "&").contains { $0 == "refresh_token=refresh-\(state.generation)" }
            guard !state.isRevoked, isCurrent, form.contains("grant_type=refresh_token") else {
                state.reuses += 1
                state.isRevoked = true
                return response(400, #"{"error":"invalid_grant"}"#)
            }
            state.generation += 1
            state.isExpired = false
            let number = state.generation
            let tokens = #""access_token":"access-\#(number)","refresh_token":"refresh-\#(number)""#
            return response(200, "{\(tokens),\"token_type\":\"Bearer\",\"expires_in\":3600}")
        }
    }

    private static func api(_ head: String, _ box: Box) -> String {
        box.state.withLock { state in
            let isGood =
                !state.isExpired && !state.isRevoked && head.contains("\r\nAuthorization: Bearer access-\(state.generation)\r\n")
            return isGood ? response(200, "ok") : response(401, "no")
        }
    }

    private static func response(_ status: Int, _ body: String, _ lines: [String] = []) -> String {
        (["HTTP/1.1 \(status) X", "Content-Length: \(body.utf8.count)"] + lines).joined(separator: "\r\n") + "\r\n\r\n\(body)"
    }
}
