import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests the guides' schemes both as a token in the program and as a plugin: both send the same bytes.
struct SameBytesTests {
    /// A row of the table. Each closure makes an interceptor for the server at that URL, after a login if it needs one.
    struct Pair: Sendable, CustomTestStringConvertible {
        typealias Make = @Sendable (_ server: String) async throws -> any RequestInterceptor
        let testDescription: String
        let inApp: Make
        let plugin: Make
        /// The text that reveals a credential in a request's bytes.
        let credential: String
    }

    private static let apiKeyPlugin = Result { try Plugin(named: "APIKeyAuth") }

    /// Creates a plugin's interceptor like an embedder. Missing settings have their defaults.
    private static func scheme(_ id: String, _ settings: SchemeSettings) throws -> any RequestInterceptor {
        try apiKeyPlugin.get().scheme(id).makeInstance(settings: settings).interceptor(storage: InMemoryStorage())
    }

    /// Creates a native interceptor as in the guides.
    private static func stored<Token: TokenModel>(_ token: Token) async throws -> any RequestInterceptor {
        let storage = TokenStorage<Token>(storage: InMemoryStorage(), key: "token")
        try await storage.save(token)
        return AuthenticationInterceptor(tokenStorage: storage, refreshStrategy: { _ in throw NetworkError.unauthorized })
    }

    private static func header(_ name: String?, _ key: String) -> Pair {
        let token = name.map { APIKeyToken(apiKey: key, headerName: $0) } ?? APIKeyToken(apiKey: key)
        return Pair(
            testDescription: "\(token.headerName): \(key)", inApp: { _ in try await stored(token) },
            plugin: { _ in
                var settings: SchemeSettings = ["key": .secret(Secret(key))]
                if let name { settings.add("header", .text(name)) }
                return try scheme("api-key", settings)
            }, credential: "\r\n\(token.headerName): \(key)\r\n")
    }

    private static func query(_ name: String?, _ key: String, as item: String) -> Pair {
        let token = name.map { QueryAPIKeyToken(apiKey: key, paramName: $0) } ?? QueryAPIKeyToken(apiKey: key)
        return Pair(
            testDescription: item, inApp: { _ in try await stored(token) },
            plugin: { _ in
                var settings: SchemeSettings = ["key": .secret(Secret(key))]
                if let name { settings.add("parameter", .text(name)) }
                return try scheme("api-key-query", settings)
            }, credential: "\(item) HTTP/1.1\r\n")
    }

    /// A key issued by a login: in the app, whose own code already has it, and in a plugin's flow.
    private static let issued = Pair(
        testDescription: "X-Token: k-123", inApp: { _ in try await stored(APIKeyToken(apiKey: "k-123", headerName: "X-Token")) },
        plugin: { server in
            let settings: SchemeSettings = ["mode": "exchange", "url": .text(server)]
            return try TestPlugin.flow.get().scheme().makeInstance(settings: settings).interceptor(storage: InMemoryStorage())
        }, credential: "\r\nX-Token: k-123\r\n")

    /// A session's cookie: in the app from its own login's response, and in a plugin from the scheme's login.
    private static let cookie = Pair(
        testDescription: "Cookie: sid=k-123",
        inApp: { server in
            let response = try await CurlSession().send(HTTPRequest(.post, "\(server)/login"), TransferOptions())
            var jar = CookieJar()
            jar.store(
                setCookieLinesOf: response, from: try HTTPRequest(.post, "\(server)/login"), now: HostClock.system.now)
            return try await stored(CookieToken(jar: jar))
        },
        plugin: { server in
            let settings: SchemeSettings = [
                "login": .text("\(server)/login"), "username": "ada", "password": .secret(Secret("hunter2")),
            ]
            return try Plugin(named: "CookieAuth").scheme().makeInstance(settings: settings).interceptor(
                storage: InMemoryStorage())
        }, credential: "sid=k-123")

    static let pairs = [
        header(nil, "k-123"), header("Authorization", "Bearer s3cret key/+="), header("x-lower", "ü"),
        header("Cookie", "a=theirs"), query(nil, "k-123", as: "api_key=k-123"),
        query("the key", "a b&=+%/ø", as: "the%20key=a%20b%26%3D%2B%25%2F%C3%B8"), query("x", "1", as: "x=1"),
        issued, cookie,
    ]

    /// A server that responds by path and records the exact bytes of requests other than logins. Logins always issue the same
    /// value, in the body and as a cookie.
    private final class Server: Sendable {
        private let seen = Collected<[UInt8]>()
        private let server: RawServer
        var url: String { server.url }
        var requests: [String] { seen.values.map { String(decoding: $0, as: UTF8.self) } }
        var bytes: [[UInt8]] { seen.values }

        /// - Parameter response: returns status and headers for a path, a query, and the number of requests for that path.
        init(
            _ response: @escaping @Sendable (_ path: Substring, _ query: Substring, _ count: Int) -> String = { _, _, _ in
                "200 OK"
            }
        ) throws {
            let seen = seen
            server = try RawServer { connection, _ in
                while let head = connection.readHeadBytes() {
                    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
                    let length = lines.first { $0.hasPrefix("Content-Length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
                    guard let body = connection.read(length) else { return }
                    let target = lines[0].split(separator: " ")[1].split(separator: "?", maxSplits: 1)
                    if target[0] == "/login" || target[0] == "/refresh" {
                        connection.write("HTTP/1.1 200 OK\r\nSet-Cookie: sid=k-123; Path=/\r\nContent-Length: 5\r\n\r\nk-123")
                        continue
                    }
                    seen.append(head + body)
                    let count = seen.values.count { String(decoding: $0, as: UTF8.self).contains(" \(target[0])") }
                    connection.write(
                        "HTTP/1.1 \(response(target[0], target.dropFirst().first ?? "", count))\r\nContent-Length: 0\r\n\r\n")
                }
            }
        }
    }

    private struct Call: Sendable {
        var method: HTTPMethod = .get
        let target: String
        var headers: [(String, String)] = []
        var body: HTTPBody = .none
    }

    private static let calls: [Call] =
        [
            "/", "", "/?", "/#f", "/orders?status=open", "/a%2Fb/../%c3%B8//?x=1&&y=%2B+ä&x=1&api_key", "/?&", "/?&&a&&",
            "/?=&=v",
            "/?api_key=theirs#f", "/?api_key=theirs&api_key=k-123&x=1&the%20key=theirs", "/?api_key=k-123", "/?a b=ø'\"<>&q=?/:@",
            "/?q=%zz%", "/ä?ö=ü&%F6=%FC", "/?redirect=http://127.0.0.1/?api_key=theirs%26x",
        ].map { Call(target: $0) } + [
            Call(target: "/", headers: [("Cookie", "a=1; b=\"2, 3\"; a=1"), ("Accept", "text/html")]),
            Call(target: "/", headers: [("Cookie", "a=1"), ("Cookie", "c=3;d")]),
            Call(
                target: "/",
                headers: [("X-API-Key", "theirs"), ("x-api-key", "theirs too"), ("X-Lower", ""), ("X-Name", "Ødegård")]),
            Call(target: "/", headers: [("Authorization", "Basic dTpw")]),
            Call(method: .delete, target: "/orders/1?force"),
        ]

    private static let callToAnotherHost = Call(target: "/", headers: [("Authorization", "Basic dTpw"), ("Host", "example.com")])

    /// A plugin's cookies aren't for another host; see below.
    private static func calls(for pairs: Pair...) -> [Call] {
        calls + (pairs.contains { $0.credential == cookie.credential } ? [] : [callToAnotherHost])
    }

    private static let callsWithBodies = [
        Call(
            method: .post, target: "/orders?x", headers: [("Content-Type", "text/plain")],
            body: .bytes(Array("api_key=1&ø".utf8))),
        Call(method: .put, target: "/empty"),
    ]

    private func send(_ calls: [Call], to server: Server, through interceptor: any RequestInterceptor) async throws {
        let provider = NetworkProvider(session: CurlSession(), interceptor: interceptor)
        for call in calls {
            var request = try HTTPRequest(call.method, server.url + call.target, body: call.body)
            for (name, value) in call.headers { try request.addHeader(name, value) }
            _ = try await provider.send(request)
        }
    }

    @Test(arguments: pairs)
    func `A native token and the plugin write the same bytes`(pair: Pair) async throws {
        let server = try Server()
        let calls = Self.calls(for: pair)
        try await send(calls, to: server, through: pair.inApp(server.url))
        let inApp = server.bytes
        try await send(calls, to: server, through: pair.plugin(server.url))
        let both = server.bytes
        #expect(inApp.count == calls.count)
        #expect(Array(both.dropFirst(inApp.count)) == inApp)
        for request in server.requests { #expect(request.occurrences(of: pair.credential) == 1, "\(request)") }
    }

    @Test(arguments: [("LOCALHOST", true), ("localhost.", false), ("example.com", false), ("example.com:80", false)])
    func `A plugin's cookies go to the host of the Host line, as curl's do`(line: String, isSent: Bool) async throws {
        let server = try Server()
        let url = "http://localhost:\(server.url.split(separator: ":")[2])"
        let interceptor = try await Self.cookie.plugin(url)
        var request = try HTTPRequest(.get, "\(url)/a")
        try request.setHeader("Host", line)
        _ = try await NetworkProvider(session: CurlSession(), interceptor: interceptor).send(request)
        #expect(server.requests.map { $0.contains("sid=k-123") } == [isSent])
    }

    @Test(arguments: pairs)
    func `A native token and the plugin sign a body alike`(pair: Pair) async throws {
        let server = try Server()
        for make in [pair.inApp, pair.plugin] {
            try await send(Self.callsWithBodies, to: server, through: make(server.url))
        }
        let requests = server.requests
        #expect(requests.count == 4 && requests[2...] == requests[..<2])
        #expect(requests.map { $0.contains("\r\nContent-Length: 12\r\n") } == [true, false, true, false])
    }

    /// Plugins are applied after all tokens that don't sign, so a token stays before a plugin's edits.
    @Test(arguments: pairs, pairs)
    func `Two schemes in one chain write what native tokens write`(first: Pair, second: Pair) async throws {
        guard first.testDescription != second.testDescription else { return }
        // The first replaces the whole header and the second adds to it, so the result depends on the order.
        guard ![first, second].allSatisfy({ $0.testDescription.hasPrefix("Cookie: ") }) else { return }
        let server = try Server()
        let made = (
            inApp: try await first.inApp(server.url), plugin: try await first.plugin(server.url),
            nextInApp: try await second.inApp(server.url), nextPlugin: try await second.plugin(server.url)
        )
        let common = HeadersInterceptor(headers: ["X-Common": "1"])
        let chains: [[any RequestInterceptor]] = [
            [made.inApp, made.nextInApp], [made.plugin, made.nextPlugin], [made.inApp, made.nextPlugin],
            [made.nextPlugin, made.inApp],
        ]
        let calls = Self.calls(for: first, second)
        for chain in chains { try await send(calls, to: server, through: InterceptorChain([common] + chain)) }
        let requests = server.bytes
        let expected = Array(requests.prefix(calls.count))
        for (index, request) in requests.enumerated() {
            #expect(request == expected[index % calls.count], "\(String(decoding: request, as: UTF8.self))")
        }
        #expect(requests.count == chains.count * calls.count)
    }

    /// Requests one retry after a 401, like an app's own interceptor might.
    private struct OnceMore: RequestInterceptor {
        func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool {
            guard case .success(let response) = outcome else { return false }
            return response.status == 401 && exchange.attempt == 1
        }
    }

    /// After a 401, a 503 and a redirect within the origin, the request carries the credential again, exactly once, although the
    /// server echoes the query. A redirect elsewhere carries none, and neither does the way back.
    @Test(arguments: pairs)
    func `Attempts and redirects get the same bytes from a native token and the plugin`(pair: Pair) async throws {
        let home = Collected<String>()
        let elsewhere = try Server { path, _, _ in path == "/x" ? "302 Found\r\nLocation: \(home.values[0])/back" : "200 OK" }
        let server = try Server { [url = elsewhere.url] path, query, count in
            switch path {
            case "/moved": count % 2 == 1 ? "401 No" : "302 Found\r\nLocation: /next?\(query)&to=a%2Fb&&x"
            case "/next": count % 2 == 1 ? "503 Busy\r\nRetry-After: 0" : "307 Here\r\nLocation: \(url)/x?\(query)&"
            default: "200 OK"
            }
        }
        home.append(server.url)
        let config = NetworkConfig(
            environments: [DefaultDomain.default: SimpleEnvironment(baseURL: server.url)],
            retryPolicy: RetryPolicy(maxAttempts: 5, baseDelay: Duration.zero))
        for make in [pair.inApp, pair.plugin] {
            let chain = InterceptorChain([try await make(server.url), OnceMore()])
            let provider = NetworkProvider(config: config, interceptor: chain)
            #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/moved?q=%c3&api_key=theirs&&")).status == 200)
        }
        let (seen, left) = (server.bytes, elsewhere.bytes)
        #expect(seen.count == 10 && seen[5...] == seen[..<5])
        #expect(left.count == 2 && left.first == left.last)
        for request in server.requests {
            #expect(request.occurrences(of: pair.credential) == (request.hasPrefix("GET /back") ? 0 : 1), "\(request)")
        }
        for request in elsewhere.requests {
            #expect(request.hasPrefix("GET /x?q=%c3&api_key=theirs&&&to=a%2Fb&&x& HTTP/1.1\r\n"), "\(request)")
            #expect(!request.contains(pair.testDescription), "\(request)")
        }
    }
}

extension String {
    fileprivate func occurrences(of text: String) -> Int { split(separator: text, omittingEmptySubsequences: false).count - 1 }
}
