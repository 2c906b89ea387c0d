import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests rules that tests with many requests meet only by chance: what a renewal reads, and what its waiters hold in the
/// meantime.
struct RenewalRulesTests {
    private let memory = InMemoryStorage()

    private func storage(_ value: String = "1") async throws -> TokenStorage<Token> {
        let storage = TokenStorage<Token>(storage: memory)
        try await storage.save(Token(value: value))
        return storage
    }

    private func request(_ host: String = "h") throws -> HTTPRequest { try HTTPRequest(.get, "http://\(host)/p") }

    private func oneAtATime() -> NetworkConfig {
        var config = NetworkConfig()
        config.maxConcurrentRequestsPerOrigin = 1
        return config
    }

    @Test func `A token that was replaced before its renewal began is not exchanged`() async throws {
        let storage = try await storage()
        let version = try await storage.current().version
        memory.set(Array("2".utf8), for: .token)
        let exchanges = Collected<Token?>()
        let outcome = try await storage.coordinator.renew(version, isRefused: true, until: nil) { old in
            exchanges.append(old)
            return Token(value: "3")
        }
        guard case .replaced = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(exchanges.values.isEmpty)
        #expect(try await storage.load()?.value == "2")
    }

    @Test func `A refused token that is also due is renewed by the refusal, although it could serve on`() async throws {
        let (started, goOn) = (Latch(), Latch())
        let storage = try await storage()
        let exchanges = Collected<Void>()
        let version = try await storage.current().version
        let ahead = Task {
            try await storage.coordinator.renew(version, isRefused: false, until: nil) { _ in
                started.set()
                await goOn.wait()
                throw NetworkError.serverError(503)
            }
        }
        await started.wait()
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in
                exchanges.append(())
                return Token(value: "2")
            })
        var exchange = Exchange(request: try request(), options: TransferOptions())
        exchange.bindings.bind(version, of: ObjectIdentifier(storage.coordinator))
        let refused = exchange
        let retry = Task {
            var exchange = refused
            return try await interceptor.retry(
                &exchange,
                after: .success(
                    HTTPResponse(version: .http11, status: 401, reason: "", headers: HTTPHeaders(), body: .bytes([]))))
        }
        #expect(await eventually { storage.coordinator.renewal.waitingCount == 2 })
        goOn.set()
        #expect(try await retry.value)
        guard case .stillUsable = try await ahead.value else { return #expect(Bool(false), "it was only due") }
        #expect(exchanges.values.count == 1)
    }

    // MARK: Changes

    /// A storage that reports changes only when a test says so.
    private final class Listened: ObservableStorage {
        let memory = InMemoryStorage()
        let (began, ended) = (Latch(), Latch())
        let continuation = Locked<AsyncStream<StorageKey>.Continuation?>(nil)

        func data(for key: StorageKey) -> [UInt8]? { memory.data(for: key) }
        func set(_ value: [UInt8]?, for key: StorageKey) { memory.set(value, for: key) }
        func remove(for key: StorageKey) { memory.remove(for: key) }
        func changes() -> AsyncStream<StorageKey> {
            let (stream, continuation) = AsyncStream.makeStream(of: StorageKey.self)
            continuation.onTermination = { [ended] _ in ended.set() }
            self.continuation.withLock { $0 = continuation }
            began.set()
            return stream
        }
        func tell(_ key: StorageKey) { continuation.withLock { _ = $0?.yield(key) } }
    }

    @Test func `Changes by others are reported; a reader that ends leaves no observer behind`() async throws {
        let listened = Listened()
        let storage = TokenStorage<Token>(storage: listened)
        try await storage.save(Token(value: "1"))
        let reader = Task {
            for await token in storage.changes { return token?.value }
            return nil
        }
        await listened.began.wait()
        listened.tell("another")
        listened.memory.set(Array("theirs".utf8), for: .token)
        listened.tell(.token)
        #expect(await reader.value == "theirs")
        await listened.ended.wait()
    }

    // MARK: Places and time

    /// Counts concurrent requests, and holds requests to one host until a test releases them.
    private final class CountingTransport: HTTPTransport {
        let isHeld = Latch()
        let goOn = Latch()
        let current = Locked(0)
        let most = Locked(0)
        let all = Locked(0)

        func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
            let now = current.withLock { current in
                current += 1
                return current
            }
            most.withLock { $0 = max($0, now) }
            all.withLock { $0 += 1 }
            if request.target == "/held" {
                isHeld.set()
                await goOn.wait()
            }
            for _ in 0..<5 { await Task.yield() }
            current.withLock { $0 -= 1 }
            return HTTPResponse(
                version: .http11, status: request.headers["Authorization"] == "Bearer 1" ? 401 : 200, reason: "",
                headers: HTTPHeaders(), body: .bytes([]))
        }
    }

    private func slow(_ storage: TokenStorage<Token>, _ started: Latch, _ goOn: Latch) -> AuthenticationInterceptor<Token> {
        AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in
                started.set()
                await goOn.wait()
                return Token(value: "2")
            }, shouldAuthenticate: { $0.target != "/held" })
    }

    @Test func `Requests during a renewal are sent after it, within the limit`() async throws {
        let (started, goOn, transport) = (Latch(), Latch(), CountingTransport())
        let storage = try await storage()
        let provider = NetworkProvider(
            config: oneAtATime(), session: transport, interceptor: slow(storage, started, goOn))
        let request = try request()
        func send() -> Task<Int, any Error> {
            Task { try await provider.send(request, RequestOptions(timeout: nil)).status }
        }
        let first = send()
        await started.wait()
        let tasks = [first] + (0..<19).map { _ in send() }
        #expect(await eventually { storage.coordinator.renewal.waitingCount == 20 })
        // None of them was sent with the token under renewal.
        #expect(transport.all.withLock { $0 } == 1)
        goOn.set()
        for task in tasks { #expect(try await task.value == 200) }
        #expect(transport.most.withLock { $0 } == 1)
    }

    /// Returns the error of a request that must end in time, or nil if it doesn't.
    private func errorInTime(_ task: Task<NetworkError?, Never>) async -> NetworkError? {
        let error = Locked<NetworkError?>(nil)
        Task {
            let result = await task.value
            error.withLock { $0 = result }
        }
        _ = await eventually { error.withLock { $0 } != nil }
        return error.withLock { $0 }
    }

    private func send(_ provider: NetworkProvider, _ request: HTTPRequest, _ milliseconds: Int) -> Task<NetworkError?, Never> {
        Task {
            do throws(NetworkError) {
                _ = try await provider.send(request, RequestOptions(timeout: .milliseconds(milliseconds)))
            } catch {
                return error
            }
            return nil
        }
    }

    @Test func `The wait for a renewal ends at the request's deadline`() async throws {
        let (started, goOn) = (Latch(), Latch())
        let provider = NetworkProvider(
            session: CountingTransport(), interceptor: slow(try await storage(), started, goOn))
        let request = try request()
        let first = Task { try await provider.send(request).status }
        await started.wait()
        #expect(await errorInTime(send(provider, request, 20)) == .timeout)
        goOn.set()
        #expect(try await first.value == 200)
    }

    @Test func `The wait for a slot ends at the request's deadline`() async throws {
        let transport = CountingTransport()
        let provider = NetworkProvider(config: oneAtATime(), session: transport)
        let held = try HTTPRequest(.get, "http://h/held")
        let holder = Task { try await provider.send(held, RequestOptions(timeout: nil)).status }
        await transport.isHeld.wait()
        #expect(try await errorInTime(send(provider, request(), 20)) == .timeout)
        transport.goOn.set()
        #expect(try await holder.value == 200)
    }

    @Test func `The wait for a slot yielded to a renewal ends at the request's deadline`() async throws {
        let (started, goOn, transport) = (Latch(), Latch(), CountingTransport())
        let storage = try await storage()
        let provider = NetworkProvider(
            config: oneAtATime(), session: transport, interceptor: slow(storage, started, goOn))
        let (request, held) = (try request(), try HTTPRequest(.get, "http://h/held"))
        let first = Task { try await provider.send(request, RequestOptions(timeout: nil)).status }
        await started.wait()
        let late = send(provider, request, 500)
        #expect(await eventually { storage.coordinator.renewal.waitingCount == 2 })
        let holder = Task { try await provider.send(held, RequestOptions(timeout: nil)).status }
        await transport.isHeld.wait()
        goOn.set()
        #expect(await errorInTime(late) == .timeout)
        transport.goOn.set()
        #expect(try await holder.value == 200)
        #expect(try await first.value == 200)
    }
}
