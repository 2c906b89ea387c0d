import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// The real libCookieAuth.so, used as in a program.
enum CookieLogins {
    static let plugin = Result { try Plugin(named: "CookieAuth") }

    static func instance(_ settings: [(String, String)]) throws -> SchemeInstance {
        var values = SchemeSettings()
        for (name, value) in settings { values.add(name, name == "password" ? .secret(Secret(value)) : .text(value)) }
        return try plugin.get().scheme().makeInstance(settings: values)
    }

    static func session(
        _ settings: [(String, String)], storage: InMemoryStorage = InMemoryStorage(),
        interaction: (any UserInteraction)? = nil, transport: CurlSession = CurlSession()
    ) throws -> SchemeSession {
        SchemeSession(try instance(settings), storage: storage, session: transport, interaction: interaction)
    }

    /// Returns the plugin's text about a failed login.
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
