import Foundation
import NevodHost
import NevodSupport
import NevodTestSupport

/// An app's server on 127.0.0.1: logins, rotating refresh tokens that each work once, and a few resources.
final class Backend: Sendable {
    enum Refresh {
        case works
        /// 401, as when the session was ended.
        case refused
        /// Closes the connection without a response.
        case offline
    }

    struct Request: Sendable {
        let method: String
        let path: String
        let bearer: String?
        let body: String
        let head: String
    }

    fileprivate struct State {
        var number = 0
        var valid: Set<String> = []
        var refreshTokens: Set<String> = []
        var refresh = Refresh.works
        var lifetime: Double?
        var issuesJWT = false
        var users: [String: String] = [:]
        var log: [Request] = []
    }

    /// Outlives the backend while a connection is served.
    private final class Shared: Sendable {
        let state = Locked(State())
    }

    private let shared = Shared()
    private let server: RawServer
    var url: String { "\(server.url)/api/v1" }

    init() throws {
        let shared = shared
        server = try RawServer { connection, _ in
            while let request = connection.readRequest().map(Request.init) {
                guard let (status, body) = shared.state.withLock({ $0.respond(to: request) }) else { return }
                connection.write(
                    "HTTP/1.1 \(status) Status\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
            }
        }
    }

    /// Makes the server forget all access tokens that it has issued.
    func expireAccessTokens() { shared.state.withLock { $0.valid = [] } }
    func setRefresh(_ refresh: Refresh) { shared.state.withLock { $0.refresh = refresh } }
    /// The lifetime that the server states for the next tokens, in seconds. Nil if it states none.
    func setLifetime(_ lifetime: Double?) { shared.state.withLock { $0.lifetime = lifetime } }
    /// Issues access tokens that are JSON Web Tokens, signed with ``key`` (HS256).
    func issueJWT() { shared.state.withLock { $0.issuesJWT = true } }
    /// The key of the backend's JSON Web Tokens.
    static let key = "the backend's key, of 32 bytes at least"
    var log: [Request] { shared.state.withLock { $0.log } }
    func requests(to path: String) -> [Request] { log.filter { $0.path == path } }
}

extension Backend.Request {
    fileprivate init(_ request: RawConnection.Request) {
        let lines = request.head.split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        head = request.head
        method = String(words[0])
        path = String(words[1].dropFirst("/api/v1".count))
        let field = "authorization: bearer "
        bearer = lines.first { $0.lowercased().hasPrefix(field) }.map { String($0.dropFirst(field.count)) }
        body = String(decoding: request.body, as: UTF8.self)
    }
}

extension Backend.State {
    fileprivate mutating func respond(to request: Backend.Request) -> (Int, String)? {
        log.append(request)
        func field(_ name: String) -> String? {
            (try? JSONDecoder().decode([String: String].self, from: Data(request.body.utf8)))?[name]
        }
        switch (request.method, request.path) {
        case ("POST", "/auth/login"), ("POST", "/auth/register"):
            guard let email = field("email"), field("password") == "secret" else { return (401, #"{"message": "no"}"#) }
            return (200, #"{"tokens": \#(issue(to: email)), "user": {"id": 1, "email": "\#(email)"}}"#)
        case ("POST", "/auth/refresh"):
            switch refresh {
            case .offline: return nil
            case .refused: return (401, #"{"message": "the session has ended"}"#)
            case .works:
                guard let token = field("refreshToken"), refreshTokens.remove(token) != nil else { return (401, "{}") }
                return (200, issue(to: users[token] ?? ""))
            }
        default:
            guard let bearer = request.bearer, valid.contains(bearer) else { return (401, "{}") }
            switch request.path {
            case "/auth/me": return (200, #"{"id": 1, "email": "\#(users[bearer] ?? "")"}"#)
            case "/sports": return (200, #"[{"name": "ski"}, {"name": "surf"}]"#)
            case "/auth/logout":
                valid.remove(bearer)
                return (204, "")
            default: return (200, #"{"bytes": \#(request.body.utf8.count)}"#)
            }
        }
    }

    private mutating func issue(to user: String) -> String {
        number += 1
        let refresh = "refresh-\(number)"
        let access = issuesJWT ? jwt(of: user) : "access-\(number)"
        valid.insert(access)
        refreshTokens.insert(refresh)
        users[access] = user
        users[refresh] = user
        let expiry =
            issuesJWT ? "" : lifetime.map { #", "expiresAt": "\#(Date(timeIntervalSinceNow: $0).formatted(.iso8601))""# } ?? ""
        return #"{"accessToken": "\#(access)", "refreshToken": "\#(refresh)"\#(expiry)}"#
    }

    private func jwt(of user: String) -> String {
        let exp = lifetime.map { #", "exp": \#(Int(Date().timeIntervalSince1970 + $0))"# } ?? ""
        let claims = #"{"iss": "backend", "aud": "app", "user_id": "\#(user)", "jti": "\#(number)"\#(exp)}"#
        return .jwt(claims, key: Backend.key)
    }
}

extension String {
    /// A JSON Web Token with these claims, signed with HS256 (RFC 7518 §3.2).
    static func jwt(_ claims: String, key: String) -> String {
        func base64URL(_ bytes: some Sequence<UInt8>) -> String {
            Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let signed = base64URL(#"{"alg":"HS256","typ":"JWT"}"#.utf8) + "." + base64URL(claims.utf8)
        // Every libcrypto has this.
        let signature = (try? HMACSHA256.code(of: signed.utf8, key: key.utf8)) ?? []
        return signed + "." + base64URL(signature)
    }
}
