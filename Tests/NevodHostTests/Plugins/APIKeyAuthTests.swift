import NevodSupport
import Testing

@testable import NevodHost

/// The real libAPIKeyAuth.so beside the core's own tokens: the same bytes on the wire.
struct APIKeyAuthTests {
    private static let plugin = Result { try Plugin(named: "APIKeyAuth") }

    private func token(_ scheme: String, _ settings: SchemeSettings) throws -> PluginToken {
        try Self.plugin.get().scheme(scheme).makeInstance(settings: settings).token
    }

    private func sent(_ signer: some TokenModel, _ requests: [String], to server: ScriptedServer) async throws {
        let provider = NetworkProvider(session: CurlSession(), signer: signer)
        for target in requests { _ = try await provider.send(HTTPRequest(.get, server.url + target)) }
    }

    /// What a server saw, without the address, in which two servers differ.
    private func lines(_ server: ScriptedServer) -> [[String]] {
        server.requests.map { request in
            ["\(request.method) \(request.target)"]
                + request.headers.filter { $0.name != "Host" }.map { "\($0.name): \($0.value)" }
        }
    }

    private static let targets = ["/", "/a%2Fb?x=1&&y=%2B+ä&x=1&api_key", "/?", "/?api_key=theirs#f"]

    @Test(arguments: [("X-API-Key", "k"), ("Authorization", "s3cret key/+="), ("x-lower", "ü")])
    func `In a header`(header: String, key: String) async throws {
        let (core, plugin) = (try ScriptedServer(), try ScriptedServer())
        try await sent(APIKeyToken(apiKey: key, headerName: header), Self.targets, to: core)
        let settings: SchemeSettings =
            header == "X-API-Key" ? ["key": .secret(Secret(key))] : ["key": .secret(Secret(key)), "header": .text(header)]
        try await sent(token("api-key", settings), Self.targets, to: plugin)
        #expect(lines(plugin) == lines(core))
        #expect(plugin.requests.allSatisfy { $0[header] == key })
    }

    @Test(arguments: [("api_key", "k"), ("the key", "a b&=+%/ø"), ("x", "1")])
    func `In the query`(parameter: String, key: String) async throws {
        let (core, plugin) = (try ScriptedServer(), try ScriptedServer())
        try await sent(QueryAPIKeyToken(apiKey: key, paramName: parameter), Self.targets, to: core)
        let settings: SchemeSettings =
            parameter == "api_key" ? ["key": .secret(Secret(key))] : ["key": .secret(Secret(key)), "parameter": .text(parameter)]
        try await sent(token("api-key-query", settings), Self.targets, to: plugin)
        #expect(lines(plugin) == lines(core))
        #expect(plugin.requests.first?.query.isEmpty == false)
    }

    @Test(arguments: [("Bearer", "Bearer k"), ("Token token =", "Token token = k"), ("", "k")])
    func `Behind a prefix`(prefix: String, value: String) throws {
        var request = try HTTPRequest(.get, "http://h/")
        try token("api-key", ["key": .secret(Secret("k")), "header": "Authorization", "prefix": .text(prefix)])
            .authorize(&request)
        #expect(request.headers.values(of: "Authorization") == [value])
    }

    /// Retries and redirects within the origin carry it once; a redirect elsewhere not at all.
    @Test(arguments: ["api-key", "api-key-query"])
    func `Once, whatever happens`(scheme: String) async throws {
        let elsewhere = try ScriptedServer()
        let server = try ScriptedServer { [url = elsewhere.url] request in
            switch request.target.split(separator: "?")[0] {
            case "/moved": ScriptedServer.Answer(status: 302, headers: ["Location: /busy?to=a%2Fb&api_key=theirs"])
            case "/busy": ScriptedServer.Answer(status: 503, headers: ["Retry-After: 0"])
            default: ScriptedServer.Answer(status: 307, headers: ["Location: \(url)/x?y"])
            }
        }
        let instance = try Self.plugin.get().scheme(scheme).makeInstance(settings: ["key": .secret(Secret("s3cret"))])
        let config = NetworkConfig(
            environments: [DefaultDomain.default: SimpleEnvironment(baseURL: server.url)],
            retryPolicy: RetryPolicy(maxAttempts: 3, baseDelay: Duration.zero))
        let provider = NetworkProvider(config: config, interceptor: instance.interceptor(storage: InMemoryStorage()))
        _ = try? await provider.send(HTTPRequest(.get, "\(server.url)/moved?q=%c3"))
        _ = try? await provider.send(HTTPRequest(.get, "\(server.url)/away"))
        let seen = server.requests
        #expect(seen.count >= 4)
        for request in seen {
            if scheme == "api-key" {
                #expect(request.headers.filter { $0.name == "X-API-Key" }.map(\.value) == ["s3cret"])
            } else {
                #expect(request.query.split(separator: "&").filter { $0 == "api_key=s3cret" }.count == 1)
                #expect(request.query.hasSuffix("api_key=s3cret"))
            }
        }
        if scheme == "api-key-query" {
            #expect(seen[0].target == "/moved?q=%c3&api_key=s3cret")
            #expect(seen.filter { $0.target == "/busy?to=a%2Fb&api_key=theirs&api_key=s3cret" }.count >= 2)
        }
        #expect(elsewhere.requests.map(\.target) == ["/x?y"])
        #expect(elsewhere.requests.allSatisfy { $0["X-API-Key"] == nil })
    }

    @Test(arguments: [
        ("api-key", "key", ["key": ""]), ("api-key", "header", ["key": "k", "header": ""]), ("api-key-query", "key", ["key": ""]),
        ("api-key-query", "parameter", ["key": "k", "parameter": ""]),
    ])
    func `Settings it refuses`(scheme: String, subject: String, values: [String: String]) throws {
        var settings = SchemeSettings()
        for (name, value) in values { settings.add(name, name == "key" ? .secret(Secret(value)) : .text(value)) }
        let error = try #require(throws: PluginError.self) {
            try Self.plugin.get().scheme(scheme).makeInstance(settings: settings)
        }
        guard case .failed(scheme, "create", 1, subject, "must not be empty", nil) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(arguments: ["k\r\nX-Evil: 1", "k\u{0}"])
    func `A key with a line break reaches no request`(key: String) throws {
        var request = try HTTPRequest(.get, "http://h/")
        #expect(throws: PluginError.self) { try token("api-key", ["key": .secret(Secret(key))]).authorize(&request) }
        #expect(!request.headers.contains("X-API-Key"))
    }
}
