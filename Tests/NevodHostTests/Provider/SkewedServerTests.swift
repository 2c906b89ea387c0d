import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests signatures for servers whose clock differs from this machine's, with the real HMACAuth and verifying servers.
struct SkewedServerTests {
    private static let hour = 3600

    private final class Log: NetworkLogger {
        let lines = Collected<String>()
        func isEnabled(_ level: LogLevel) -> Bool { true }
        func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) { lines.append(message) }
    }

    private let log = Log()

    private func hmac(_ more: [(String, String)] = [], clock: HostClock = .system) throws -> SchemeInstance {
        var settings: SchemeSettings = ["api-key": "demo", "secret": .text(DemoServer.secret)]
        for (name, value) in more { settings.add(name, .text(value)) }
        return try TestPlugin.hmac.get().scheme().makeInstance(settings: settings, clock: clock)
    }

    private func provider(_ instance: SchemeInstance) -> NetworkProvider {
        NetworkProvider(session: CurlSession(), signer: instance.token, logger: log)
    }

    private func verified(_ server: DemoServer) throws -> [Bool?] { try server.log().map(\.verified) }

    @Test(arguments: [hour, -hour, 7 * hour])
    func `A request to a server with another time is signed right on the second attempt, and the next at once`(
        ahead: Int
    ) async throws {
        let server = try DemoServer(ahead: ahead)
        let provider = try provider(hmac())
        let first = try await provider.send(HTTPRequest(.post, "\(server.url)/orders", body: .bytes([1, 2, 3])))
        #expect(first.status == 200)
        #expect(try verified(server) == [false, true])
        for _ in 0..<3 { #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/a")).status == 200) }
        #expect(try verified(server) == [false, true, true, true, true])
        #expect(log.lines.values.count == 1)
        let direction = ahead > 0 ? "\(ahead / 3600) h 0 min ahead of" : "1 h 0 min behind"
        #expect(
            log.lines.values.first
                == "the clock of \(server.url) is \(direction) this machine's; signatures use its time")
    }

    @Test func `A scheme's own clock may be the wrong one`() async throws {
        let server = try DemoServer()
        let clock = HostClock { HostClock.system.now.nanoseconds - 3_600_000_000_000 }
        let instance = try hmac(clock: clock)
        #expect(try await provider(instance).send(HTTPRequest(.get, "\(server.url)/a")).status == 200)
        #expect(try verified(server) == [false, true])
        // Another provider with the same instance also knows it. So does a request that isn't sent by a provider.
        #expect(try await provider(instance).send(HTTPRequest(.get, "\(server.url)/b")).status == 200)
        var request = try HTTPRequest(.get, "\(server.url)/c")
        try instance.token.authorize(&request)
        #expect(try await CurlSession().send(request, TransferOptions()).status == 200)
        #expect(try verified(server) == [false, true, true, true])
    }

    @Test func `A server with this machine's time gets one attempt, and no line is logged`() async throws {
        let server = try DemoServer()
        #expect(try await provider(hmac()).send(HTTPRequest(.get, "\(server.url)/a")).status == 200)
        #expect(try verified(server) == [true])
        #expect(log.lines.values.isEmpty)
    }

    @Test func `A server that refuses whatever the time is sees two attempts, and one of each later request`() async throws {
        let server = try DemoServer(ahead: Self.hour, secret: "another key")
        let provider = try provider(hmac())
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/a")).status == 401)
        #expect(try verified(server) == [false, false])
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/b")).status == 401)
        #expect(try verified(server) == [false, false, false])
    }

    @Test func `A difference of more than a day is not corrected`() async throws {
        let server = try DemoServer(ahead: 25 * Self.hour)
        let provider = try provider(hmac())
        for _ in 0..<2 { #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/a")).status == 401) }
        #expect(try verified(server) == [false, false])
        #expect(log.lines.values.count == 1)
        #expect(log.lines.values.first?.contains("is 1 d 1 h ahead of this machine's, more than the day") == true)
    }

    @Test func `A body that can be read once is not sent again; the next request has the right time`() async throws {
        let server = try DemoServer(ahead: Self.hour)
        // A body that can be read only once can't be hashed first, so the message leaves it out. This server rejects that anyway.
        let provider = try provider(hmac([("message", "{method}\\n{path}\\n{timestamp}\\n")]))
        let opened = Collected<Void>()
        let body = HTTPBody.stream(.of([[1], [2]], length: 2, isReplayable: false, opened: opened))
        #expect(try await provider.send(HTTPRequest(.put, "\(server.url)/a", body: body)).status == 401)
        #expect(opened.values.count == 1)
        #expect(try verified(server) == [false])
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/a")).status == 200)
        #expect(try verified(server) == [false, true])
    }

    @Test func `A stream that can be read again is sent again`() async throws {
        let server = try DemoServer(ahead: Self.hour)
        let body = HTTPBody.stream(.of([[1], [2]], length: 2))
        #expect(try await provider(hmac()).send(HTTPRequest(.put, "\(server.url)/a", body: body)).status == 200)
        #expect(try verified(server) == [false, true])
    }

    @Test func `Concurrent first requests are each signed again once`() async throws {
        let server = try DemoServer(ahead: Self.hour)
        let provider = try provider(hmac())
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<20 {
                group.addTask { try await provider.send(HTTPRequest(.get, "\(server.url)/\(index)")).status }
            }
            for try await status in group { #expect(status == 200) }
        }
        let attempts = Dictionary(grouping: try server.log(), by: \.target).mapValues(\.count)
        #expect(attempts.count == 20)
        #expect(attempts.values.allSatisfy { $0 <= 2 })
        #expect(log.lines.values.count == 1)
    }

    // MARK: A server that checks only the time

    /// The difference between X-Timestamp and this machine's time, rounded to minutes.
    private static func minutesAhead(_ request: ScriptedServer.Request) -> Int? {
        request["X-Timestamp"].flatMap { Int64($0) }.map {
            Int((Double($0 - HostClock.system.now.seconds) / 60).rounded())
        }
    }

    private static func date(minutesAhead: Int) -> String {
        "Date: \(HTTPDate.text(HostClock.system.now + .seconds(minutesAhead * 60)))"
    }

    @Test(arguments: [401, 403, 400, 404, 429, 500])
    func `Only a 401 or 403 is a reason to sign again`(status: Int) async throws {
        let server = try ScriptedServer { request in
            let isRight = Self.minutesAhead(request) == 60
            return ScriptedServer.Response(status: isRight ? 200 : status, headers: [Self.date(minutesAhead: 60)])
        }
        let response = try await provider(hmac()).send(HTTPRequest(.post, "\(server.url)/a"))
        #expect(response.status == (status == 401 || status == 403 ? 200 : status))
        #expect(server.requests.compactMap(Self.minutesAhead) == (response.status == 200 ? [0, 60] : [0]))
    }

    @Test func `A server whose clock changes with every response gets one more attempt`() async throws {
        let count = Collected<Void>()
        let server = try ScriptedServer { _ in
            count.append(())
            return ScriptedServer.Response(status: 401, headers: [Self.date(minutesAhead: 10 * count.values.count)])
        }
        let provider = try provider(hmac())
        for request in 1...3 {
            #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/a")).status == 401)
            #expect(server.requests.count == 2 * request)
        }
    }

    @Test func `One more attempt is one for all redirects together`() async throws {
        let count = Collected<Void>()
        let server = try ScriptedServer { request in
            count.append(())
            let date = Self.date(minutesAhead: 10 * count.values.count)
            // Each path is rejected once, and then redirects to the next.
            return switch count.values.count {
            case 1: ScriptedServer.Response(status: 401, headers: [date])
            case 2: ScriptedServer.Response(status: 307, headers: [date, "Location: /b"])
            default: ScriptedServer.Response(status: 401, headers: [date])
            }
        }
        #expect(try await provider(hmac()).send(HTTPRequest(.get, "\(server.url)/a")).status == 401)
        #expect(server.requests.map(\.target) == ["/a", "/a", "/b"])
        #expect(server.requests.compactMap(Self.minutesAhead) == [0, 10, 20])
    }

    @Test func `A correction stays at its origin, and a redirect away from it carries no signature`() async throws {
        let other = try ScriptedServer()
        let otherURL = other.url
        let server = try ScriptedServer { request in
            request.target == "/away"
                ? ScriptedServer.Response(status: 307, headers: [Self.date(minutesAhead: 60), "Location: \(otherURL)/here"])
                : ScriptedServer.Response(headers: [Self.date(minutesAhead: 60)])
        }
        let provider = try provider(hmac())
        _ = try await provider.send(HTTPRequest(.get, "\(server.url)/a"))
        _ = try await provider.send(HTTPRequest(.get, "\(other.url)/b"))
        _ = try await provider.send(HTTPRequest(.get, "\(server.url)/away"))
        #expect(server.requests.compactMap(Self.minutesAhead) == [0, 60])
        #expect(other.requests.map { Self.minutesAhead($0) } == [0, nil])
    }

    @Test(arguments: ["Age: 1", "Date: Tue, 14 Nov 2023 22:13:20 GMT"])
    func `A response whose date may be stored is no reason to sign again`(line: String) async throws {
        let server = try ScriptedServer { _ in
            ScriptedServer.Response(status: 401, headers: [Self.date(minutesAhead: 60), line])
        }
        #expect(try await provider(hmac()).send(HTTPRequest(.get, "\(server.url)/a")).status == 401)
        #expect(server.requests.count == 1)
    }

    @Test func `A request without a plugin's signature is not sent again`() async throws {
        let server = try ScriptedServer { _ in
            ScriptedServer.Response(status: 401, headers: [Self.date(minutesAhead: 60)])
        }
        let provider = NetworkProvider(session: CurlSession(), signer: APIKeyToken(apiKey: "k"), logger: log)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/a")).status == 401)
        #expect(server.requests.count == 1)
        #expect(log.lines.values.isEmpty)
    }

    @Test func `A credential for a proxy gets the local time`() async throws {
        let server = try ScriptedServer { _ in ScriptedServer.Response(status: 401, headers: [Self.date(minutesAhead: 60)]) }
        let settings: SchemeSettings = [
            "api-key": "", "secret": .text(DemoServer.secret), "message": "{method}{timestamp}", "timestamp-header": "",
            "signature-header": "Proxy-Authorization", "signature-value": "{timestamp} {signature}",
        ]
        let instance = try TestPlugin.hmac.get().scheme().makeInstance(settings: settings, target: .proxy)
        #expect(try await provider(instance).send(HTTPRequest(.get, "\(server.url)/a")).status == 401)
        #expect(server.requests.count == 1)
        // Even if one of the scheme's flows has learned the origin's time.
        var headers = HTTPHeaders()
        headers.add("Date", HTTPDate.text(HostClock.system.now + .seconds(3600)), by: .host)
        var request = try HTTPRequest(.get, "\(server.url)/a")
        instance.clocks.learn(
            from: HTTPResponse(version: .http11, status: 200, reason: "", headers: headers, body: .bytes([])),
            to: request.origin, sentAt: instance.clocks.uptimeNow(), nil)
        #expect(instance.clocks.correction(at: request.origin) > 0)
        try instance.token.authorize(&request)
        let value = try #require(request.proxyAuthorization)
        let signed = try #require(value.split(separator: " ").first.flatMap { Int64($0) })
        #expect((signed - HostClock.system.now.seconds).magnitude < 60)
    }

    // MARK: Schemes with verdicts and flows

    private func session(_ server: ScriptedServer, _ mode: String) throws -> SchemeSession {
        let instance = try TestPlugin.flow.get().scheme().makeInstance(
            settings: ["mode": .text(mode), "url": .text(server.url)])
        return SchemeSession(instance, storage: InMemoryStorage(), logger: log)
    }

    private func targets(_ server: ScriptedServer) -> [String] { server.requests.map(\.target) }

    @Test func `A request is signed again before its token is renewed`() async throws {
        let server = try ScriptedServer { request in
            request.target == "/api"
                ? ScriptedServer.Response(status: 401, headers: [Self.date(minutesAhead: 60)])
                : ScriptedServer.Response(body: request.target)
        }
        let session = try session(server, "exchange")
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/api")).status == 401)
        #expect(targets(server) == ["/login", "/api", "/api", "/refresh", "/api"])
    }

    @Test func `A scheme's verdict comes first`() async throws {
        let count = Collected<Void>()
        let server = try ScriptedServer { request in
            guard request.target == "/api" else { return ScriptedServer.Response(body: "t") }
            count.append(())
            return ScriptedServer.Response(
                status: count.values.count == 1 ? 401 : 200, headers: [Self.date(minutesAhead: 60), "X-Fresh: n"])
        }
        let session = try session(server, "nonce-challenge")
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/api")).status == 200)
        #expect(targets(server) == ["/login", "/api", "/challenge", "/api"])
    }

    @Test func `A flow's events have the server's time, and the expiry of its token is on this machine's clock`() async throws {
        let challenged = Collected<Void>()
        let server = try ScriptedServer { request in
            switch request.target {
            case "/login": return ScriptedServer.Response(headers: [Self.date(minutesAhead: 60)])
            default:
                challenged.append(())
                // The server's clock is changed between the login and the challenge.
                let lines = [Self.date(minutesAhead: -120)]
                return challenged.values.count == 1
                    ? ScriptedServer.Response(status: 401, headers: lines + ["X-Fresh: n"])
                    : ScriptedServer.Response(headers: lines)
            }
        }
        func minutesAhead(_ time: Int64) -> Int { Int((Double(time - HostClock.system.now.nanoseconds) / 60e9).rounded()) }
        func token(_ session: SchemeSession) async throws -> (number: Int64, expiresInMinutes: Int) {
            let token = try #require(try await session.tokenStorage.load())
            let text = token.issued.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            return (try #require(Int64(text)), minutesAhead(try #require(token.expiresAt).nanoseconds))
        }
        let session = try session(server, "nonce-challenge-time")
        try await session.login()
        let issued = try await token(session)
        #expect(minutesAhead(issued.number) == 60)
        #expect(issued.expiresInMinutes == 1)
        #expect(log.lines.values.count == 1)

        // A refresh sees the expiry on the server's clock again.
        let refreshed = try await session.renewed(try await session.tokenStorage.load())
        let remaining = refreshed.issued.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let seconds = try #require(Int64(remaining)) / 1_000_000_000
        #expect((seconds - 60).magnitude <= 45, "\(seconds)")

        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor, logger: log)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/api")).status == 200)
        let renewed = try await token(session)
        #expect(minutesAhead(renewed.number) == -120)
        #expect(renewed.expiresInMinutes == 1)
        #expect(log.lines.values.filter { $0.hasPrefix("the clock") }.count == 2)
    }

    @Test func `The expiry of a token that a response brings is on this machine's clock, too`() async throws {
        let server = try ScriptedServer { request in
            request.target == "/login"
                ? ScriptedServer.Response(body: "t")
                : ScriptedServer.Response(headers: [Self.date(minutesAhead: 60), "X-Fresh: next"])
        }
        let session = try session(server, "nonce-keep-time")
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        for _ in 0..<2 { #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/api")).status == 200) }
        #expect(targets(server) == ["/login", "/api", "/api"])
        let expiry = try #require(try await session.tokenStorage.load()?.expiresAt)
        #expect((expiry - HostClock.system.now).components.seconds.magnitude <= 120)
    }
}
