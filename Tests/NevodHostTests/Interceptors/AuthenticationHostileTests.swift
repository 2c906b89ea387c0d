import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Strategies, interceptors, storages and clocks that misbehave.
struct AuthenticationHostileTests {
    private let exchanges = Collected<String?>()

    private func storage(_ value: String? = "1") async throws -> TokenStorage<Token> {
        let storage = TokenStorage<Token>(storage: InMemoryStorage())
        if let value { try await storage.save(Token(value: value)) }
        return storage
    }

    private func server(_ good: Set<String>) -> TestTransport {
        TestTransport { _, request in good.contains(Self.token(of: request) ?? "") ? 200 : 401 }
    }

    private static func token(of request: HTTPRequest) -> String? {
        request.headers["Authorization"].map { String($0.dropFirst("Bearer ".count)) }
    }

    private func config(atATime limit: Int) -> NetworkConfig {
        var config = NetworkConfig()
        config.maxConcurrentRequestsPerOrigin = limit
        return config
    }

    private func request(_ host: String = "h") throws -> HTTPRequest { try HTTPRequest(.get, "http://\(host)/p") }

    private final class Box<Value: Sendable>: Sendable {
        let value = Locked<Value?>(nil)
    }

    // MARK: Strategies

    @Test(arguments: [nil, "1"])
    func `Requests that wait for a renewal which finds no other token go as they are`(token: String?) async throws {
        let (started, goOn) = (Latch(), Latch())
        let storage = try await storage(token)
        let transport = TestTransport { _, request in request.origin.host == "private" ? 401 : 200 }
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in
                started.set()
                await goOn.wait()
                throw NetworkError.unauthorized
            })
        let provider = NetworkProvider(session: transport, interceptor: interceptor)
        let (refused, open) = (try request("private"), try request("public"))
        let first = Task { try await provider.send(refused).status }
        await started.wait()
        let others = (0..<3).map { _ in Task { try await provider.send(open).status } }
        #expect(await eventually { storage.coordinator.renewal.waitingCount == 4 })
        goOn.set()
        #expect(try await first.value == 401)
        for other in others { #expect(try await other.value == 200) }
        #expect(try await storage.load()?.value == token)
    }

    @Test func `Two services whose strategies need each other don't wait for each other`() async throws {
        let box = Box<NetworkProvider>()
        let transport = server(["new"])
        let hosts = ["a", "b"]
        let storages = [try await storage(), try await storage()]
        let started = [Latch(), Latch()]
        let chain = InterceptorChain(
            hosts.indices.map { index in
                AuthenticationInterceptor(
                    tokenStorage: storages[index],
                    refreshStrategy: { [exchanges] _ in
                        exchanges.append(hosts[index])
                        started[index].set()
                        await started[1 - index].wait()
                        let provider = try #require(box.value.withLock { $0 })
                        let options = RequestOptions(timeout: .seconds(1000))
                        let response = try await provider.send(HTTPRequest(.get, "http://\(hosts[1 - index])/t"), options)
                        guard response.status == 200 else { throw NetworkError.serverError(503) }
                        return Token(value: "new")
                    },
                    shouldAuthenticate: { $0.origin.host == hosts[index] })
            })
        let provider = NetworkProvider(session: transport, interceptor: chain)
        box.value.withLock { $0 = provider }
        // The strategy holds the box, and the provider the strategy.
        defer { box.value.withLock { $0 = nil } }
        let ended = Latch()
        let requests = try hosts.map(request)
        let errors = Task {
            await withTaskGroup { group in
                for request in requests {
                    group.addTask { () async -> NetworkError? in
                        do throws(NetworkError) { _ = try await provider.send(request, RequestOptions(timeout: nil)) } catch {
                            return error
                        }
                        return nil
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        Task {
            _ = await errors.value
            ended.set()
        }
        await ended.wait()
        errors.cancel()
        // Neither token can be renewed without the other, so neither is cleared.
        for error in await errors.value { #expect(error == .authenticationFailed) }
        for storage in storages { #expect(try await storage.load()?.value == "1") }
    }

    @Test func `A task that a strategy leaves behind is a request like any other afterwards`() async throws {
        let (storage, transport) = (try await storage(), server(["1''"]))
        let (goOn, box, left) = (Latch(), Box<NetworkProvider>(), Box<Task<Int, any Error>>())
        let request = try request()
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { old in
                if old?.value == "1" {
                    let task = Task {
                        await goOn.wait()
                        return try await #require(box.value.withLock { $0 }).send(request).status
                    }
                    left.value.withLock { $0 = task }
                }
                return Token(value: (old?.value ?? "") + "'")
            })
        let provider = NetworkProvider(session: transport, interceptor: interceptor)
        box.value.withLock { $0 = provider }
        // The strategy holds the box, and the provider the strategy.
        defer { box.value.withLock { $0 = nil } }
        #expect(try await provider.send(request).status == 401)
        goOn.set()
        let task = try #require(left.value.withLock { $0 })
        #expect(try await task.value == 200)
        #expect(transport.sent.map(Self.token) == ["1", "1'", "1'", "1''"])
    }

    @Test func `A renewed token that has expired by our clock is not renewed by every request`() async throws {
        let storage = TokenStorage<OAuthToken>(storage: InMemoryStorage())
        @Sendable func over(_ value: String) -> OAuthToken {
            OAuthToken(accessToken: value, refreshToken: "r", expiresAt: HostClock.system.now + .seconds(-100))
        }
        try await storage.save(over("0"))
        let transport = TestTransport { attempt, _ in attempt == 4 ? 401 : 200 }
        let exchanges = Collected<Void>()
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in
                exchanges.append(())
                return over("\(exchanges.values.count)")
            })
        let provider = NetworkProvider(session: transport, interceptor: interceptor)
        for _ in 0..<3 { #expect(try await provider.send(request()).status == 200) }
        #expect(transport.sent.map(Self.token) == ["1", "1", "1"])
        // A rejected token is still renewed.
        #expect(try await provider.send(request()).status == 200)
        #expect(transport.sent.map(Self.token) == ["1", "1", "1", "1", "2"])
    }

    // MARK: Slots and time

    /// Keeps every exchange, as a tracing interceptor might.
    private struct Keeping: OutcomeObserver {
        let exchanges = Collected<Exchange>()

        func adapt(_ exchange: inout Exchange) async throws { exchanges.append(exchange) }
        func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async { exchanges.append(exchange) }
    }

    @Test func `An exchange that is kept holds no dispatch slot`() async throws {
        let (storage, keeping) = (try await storage(), Keeping())
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage, refreshStrategy: { Token(value: ($0?.value ?? "") + "'") })
        let provider = NetworkProvider(
            config: config(atATime: 1), session: server(["1'"]), interceptor: InterceptorChain([keeping, interceptor]))
        let options = RequestOptions(timeout: .seconds(500))
        for _ in 0..<3 { #expect(try await provider.send(request(), options).status == 200) }
        #expect(keeping.exchanges.values.count == 8)
    }

    /// Fails, and leaves a task running that inherits the task-local values.
    private struct Littering: RequestInterceptor {
        let tasks = Collected<Task<Void, any Error>>()

        func adapt(_ exchange: inout Exchange) async throws {
            try Exchange.$current.withValue(exchange) {
                tasks.append(Task { try await Task.sleep(for: .seconds(1000)) })
                throw NetworkError.clientError(418)
            }
        }
    }

    @Test func `A request that fails before it is sent releases its slot, even if its exchange is kept`() async throws {
        let littering = Littering()
        let provider = NetworkProvider(config: config(atATime: 1), session: TestTransport(), interceptor: littering)
        for _ in 0..<3 {
            await #expect(throws: NetworkError.clientError(418)) {
                try await provider.send(request(), RequestOptions(timeout: .seconds(500)))
            }
        }
        for task in littering.tasks.values { task.cancel() }
    }

    /// Records the timeout of each transfer.
    private final class TimedTransport: HTTPTransport {
        let timeouts = Collected<Duration?>()

        func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
            timeouts.append(options.timeout)
            return HTTPResponse(version: .http11, status: 200, reason: "", headers: HTTPHeaders(), body: .bytes([]))
        }
    }

    private struct Slow: RequestInterceptor {
        func adapt(_ exchange: inout Exchange) async throws { try await Task.sleep(for: .milliseconds(50)) }
    }

    @Test func `Time spent in the chain is taken off the transport's timeout`() async throws {
        let transport = TimedTransport()
        let provider = NetworkProvider(session: transport, interceptor: Slow())
        _ = try await provider.send(request(), RequestOptions(timeout: .seconds(1000)))
        let given = try #require(transport.timeouts.values.first)
        #expect(try #require(given) <= .seconds(1000) - .milliseconds(50))
        await #expect(throws: NetworkError.timeout) {
            try await provider.send(request(), RequestOptions(timeout: .milliseconds(10)))
        }
        #expect(transport.timeouts.values.count == 1)
    }

    // MARK: Responses

    /// A storage that can be read but not written.
    private final class ReadOnly: KeyValueStorage {
        struct NoSpace: Error {}
        let memory = InMemoryStorage()

        func data(for key: StorageKey) -> [UInt8]? { memory.data(for: key) }
        func set(_ value: [UInt8]?, for key: StorageKey) throws { throw NoSpace() }
        func remove(for key: StorageKey) throws { throw NoSpace() }
    }

    @Test func `Cookies that can't be saved don't fail the response that sets them`() async throws {
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nSet-Cookie: sid=2; Path=/\r\nContent-Length: 0\r\n\r\n")
        let readOnly = ReadOnly()
        let cookie = try #require(
            Cookie(setCookie: "sid=1; Path=/", from: HTTPRequest(.get, server.url), now: HostClock.system.now))
        readOnly.memory.set(try CookieToken(sessionCookies: [cookie]).encode(), for: "cookies")
        let provider = NetworkProvider(
            session: CurlSession(),
            interceptor: CookieAuthenticationInterceptor(
                cookieStorage: TokenStorage(storage: readOnly, key: "cookies"), loginStrategy: { throw NetworkError.unauthorized }
            ))
        #expect(try await provider.send(HTTPRequest(.post, server.url)).status == 200)
    }

    @Test func `A retry that is not made costs the budget nothing`() async throws {
        let transport = TestTransport { _, request in request.target == "/good" ? 200 : 503 }
        let provider = NetworkProvider(session: transport)
        var options = RequestOptions(timeout: .seconds(500))
        options.retryPolicy = RetryPolicy(
            maxAttempts: 2, baseDelay: .seconds(5000), maxDelay: .seconds(5000), jitter: false)
        for _ in 0..<30 { #expect(try await provider.send(request(), options).status == 503) }
        #expect(transport.sent.count == 30)
        options.retryPolicy = RetryPolicy(maxAttempts: 2, baseDelay: .zero, jitter: false)
        for _ in 0..<5 { #expect(try await provider.send(request(), options).status == 503) }
        #expect(transport.sent.count == 40)
    }
}

/// A token whose encoding has no defined order.
struct UnorderedTokenTests {
    private struct Unordered: TokenModel {
        let value: String
        func authorize(_ request: inout HTTPRequest) throws { try request.setHeader("X-Token", value) }
        /// The parts in any order, as a dictionary's are.
        func encode() -> [UInt8] { Array(["a;", "b;", "c;", "d;", "\(value);"].shuffled().joined().utf8) }
        static func decode(from data: [UInt8]) throws -> Unordered {
            let parts = String(decoding: data, as: UTF8.self).split(separator: ";").map(String.init)
            return Unordered(value: parts.first { $0.count > 1 } ?? "")
        }
    }

    @Test(arguments: ["same", "emas"])
    func `Tokens compare by value, not by their encoding or their text`(
        renewed: String
    ) async throws {
        for _ in 0..<20 {
            let storage = TokenStorage<Unordered>(storage: InMemoryStorage())
            try await storage.save(Unordered(value: "same"))
            let transport = TestTransport { _, _ in 401 }
            let interceptor = AuthenticationInterceptor(
                tokenStorage: storage, refreshStrategy: { _ in Unordered(value: renewed) })
            _ = try await NetworkProvider(session: transport, interceptor: interceptor).send(HTTPRequest(.get, "http://h/"))
            #expect(transport.sent.map { $0.headers["X-Token"] } == (renewed == "same" ? ["same"] : ["same", "emas"]))
        }
    }
}
