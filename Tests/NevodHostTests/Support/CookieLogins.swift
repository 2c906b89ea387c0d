import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// The real libCookieAuth.so, used as in a program.
enum CookieLogins {
    static let plugin = Result { try Plugin(named: "CookieAuth") }

    private static let secrets = ["password", "totp"]

    static func instance(_ settings: [(String, String)], clock: HostClock = .system) throws -> SchemeInstance {
        var values = SchemeSettings()
        for (name, value) in settings { values.add(name, secrets.contains(name) ? .secret(Secret(value)) : .text(value)) }
        return try plugin.get().scheme().makeInstance(settings: values, clock: clock)
    }

    static func session(
        _ settings: [(String, String)], storage: InMemoryStorage = InMemoryStorage(),
        interaction: (any UserInteraction)? = nil, transport: CurlSession = CurlSession()
    ) throws -> SchemeSession {
        SchemeSession(try instance(settings), storage: storage, session: transport, interaction: interaction)
    }

    private static let addresses = [
        "login", "page", "probe", "mfa", "mfa-page", "logout", "logout-page", "request-csrf-page",
    ]

    /// A session of the user `u` at a server. The login is at `/login` unless the settings say otherwise. Addresses that begin
    /// with a slash are on the server.
    static func session(
        at server: ScriptedServer, _ settings: [(String, String)] = [], storage: InMemoryStorage = InMemoryStorage(),
        interaction: (any UserInteraction)? = nil, clock: HostClock = .system
    ) throws -> SchemeSession {
        let defaults = [("login", "/login"), ("username", "u"), ("password", "p")]
            .filter { name, _ in !settings.contains { $0.0 == name || name == "username" && $0 == ("username-field", "") } }
        let all = (defaults + settings).map { name, value in
            (name, addresses.contains(name) && value.hasPrefix("/") ? server.url + value : value)
        }
        return SchemeSession(try instance(all, clock: clock), storage: storage, session: CurlSession(), interaction: interaction)
    }

    /// Returns the plugin's message about a failed login.
    static func failure(of session: SchemeSession) async throws -> (status: PluginStatus, message: String) {
        let error = try await #require(throws: PluginError.self) { try await session.login() }
        guard case .failed(_, _, let status, _, let message, _) = error.reason else {
            throw Command.Failure(description: "\(error)")
        }
        return (try #require(PluginStatus(rawValue: status)), message)
    }
}

extension SchemeSession {
    func provider(_ transport: CurlSession = CurlSession()) -> NetworkProvider {
        NetworkProvider(config: NetworkConfig(), session: transport, interceptor: interceptor)
    }
}

extension NetworkProvider {
    func text(_ url: String, _ method: HTTPMethod = .get) async throws -> (status: Int, text: String) {
        let response = try await send(HTTPRequest(method, url))
        return (response.status, String(decoding: try await response.body.collect(), as: UTF8.self))
    }
}

extension ScriptedServer.Response {
    static func page(_ body: String, status: Int = 200, _ headers: String...) -> Self {
        Self(status: status, headers: headers + ["Content-Type: text/html; charset=utf-8"], body: body)
    }

    static func json(_ status: Int, _ body: String, _ headers: String...) -> Self {
        Self(status: status, headers: headers + ["Content-Type: application/json; charset=utf-8"], body: body)
    }

    static func redirect(_ location: String, status: Int = 302, _ headers: String...) -> Self {
        Self(status: status, headers: headers + ["Location: \(location)"])
    }
}

extension ScriptedServer.Request {
    var text: String { String(decoding: body, as: UTF8.self) }
    var line: String { "\(method) \(target)" }
    /// The target without its query.
    var path: String { String(target.prefix { $0 != "?" }) }
}
