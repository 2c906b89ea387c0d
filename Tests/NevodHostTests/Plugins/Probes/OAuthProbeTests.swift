import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests OAuth 2 with a browser, as a plugin. The server is Authlib's; only its metadata names the origin of its endpoints.
struct OAuthProbeTests {
    private let server: ProbeServer
    private let browser = Browser()
    private let storage = InMemoryStorage()

    init() async throws {
        server = try await ProbeServer.start("oauth")
    }

    /// Opens the URL and follows the server's redirects to the listener.
    private final class Browser: UserInteraction {
        let opened = Collected<String>()
        let origins = Collected<String>()
        let pages = Collected<String>()

        func loginBegins(with scheme: String, at origins: [Origin]) async {
            for origin in origins { self.origins.append(origin.description) }
        }
        func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] { [:] }
        func show(_ text: String, url: String) async throws {}
        func open(_ url: String) async throws {
            opened.append(url)
            let response = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, url))
            pages.append(String(decoding: try await response.body.collect(), as: UTF8.self))
        }
    }

    private func session(issuer: String? = nil) throws -> SchemeSession {
        let instance = try TestPlugin.oauth.get().scheme().makeInstance(
            settings: ["issuer": .text(issuer ?? server.url), "client-id": "probe", "scope": "profile & more"])
        return SchemeSession(instance, storage: storage, interaction: browser)
    }

    private func provider(_ session: SchemeSession) -> NetworkProvider {
        NetworkProvider(config: NetworkConfig(), session: CurlSession(), interceptor: session.interceptor)
    }

    private func control(_ what: String) async throws -> [String] {
        let response = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(server.url)/control/\(what)"))
        return try Command.python(
            "import json, sys\nprint(*json.loads(sys.argv[1]), sep='\\n')",
            [String(decoding: try await response.body.collect(), as: UTF8.self)])
    }

    private func me(_ provider: NetworkProvider) async throws -> Int {
        try await provider.send(HTTPRequest(.get, "\(server.url)/me")).status
    }

    @Test func `A login in a browser stores a token that a new session finds`() async throws {
        let session = try session()
        try await session.login()
        #expect(browser.opened.values.count == 1)
        #expect(browser.opened.values.allSatisfy { $0.hasPrefix("\(server.urls[1])/authorize?") })
        #expect(browser.origins.values == [server.url])
        #expect(browser.pages.values.allSatisfy { $0.contains("Done.") })
        #expect(try await me(provider(session)) == 200)
        #expect(try await me(provider(self.session())) == 200)
        #expect(try await control("log") == ["authorize profile & more", "token authorization_code"])
    }

    @Test func `Concurrent requests refresh an expired token once`() async throws {
        let session = try session()
        try await session.login()
        _ = try await control("expire")
        let provider = provider(session)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<30 { group.addTask { try await me(provider) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 30))
        #expect(browser.opened.values.count == 1)
        #expect(try await control("log").filter { $0 == "token refresh_token" }.count == 1)
    }

    @Test func `A refresh token that was revoked leads to another login`() async throws {
        let session = try session()
        try await session.login()
        _ = try await control("revoke")
        #expect(try await me(provider(session)) == 200)
        #expect(browser.opened.values.count == 2)
    }

    @Test func `Metadata of another issuer opens no origin`() async throws {
        // The same document at another issuer's URL.
        let other = server.url.replacingHost("localhost")
        let error = await #expect(throws: PluginError.self) { try await session(issuer: other).login() }
        #expect(error?.description.contains("issuer") == true, "\(String(describing: error))")
        #expect(browser.opened.values.isEmpty)
    }
}

extension String {
    fileprivate func replacingHost(_ host: String) -> String {
        guard let port = split(separator: ":").last else { return self }
        return "http://\(host):\(port)"
    }
}
