import CPluginCalls
import NevodStorage
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests requests whose interceptors block their thread.
struct RequestWorkTests {
    @TaskLocal private static var local = 0

    /// Blocks the thread in its first request, until `release` is set.
    private final class Blocking: RequestInterceptor {
        let hasBegun = Latch()
        let release = Latch()
        /// Set when the thread is no longer blocked, and the interceptor has returned.
        let hasReturned = Latch()
        private let requests = Collected<Void>()
        private let inRetry: Bool
        private let wantsRetry: Bool
        private let call: (@Sendable (RequestWork) -> Void)?

        init(inRetry: Bool = false, wantsRetry: Bool = false, call: (@Sendable (RequestWork) -> Void)? = nil) {
            self.inRetry = inRetry
            self.wantsRetry = wantsRetry
            self.call = call
        }

        var mayBlock: Bool { true }

        func adapt(_ exchange: inout Exchange) async throws {
            if !inRetry { block(exchange) }
        }

        func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool {
            if inRetry { block(exchange) }
            return wantsRetry && exchange.attempt == 1
        }

        private func block(_ exchange: Exchange) {
            requests.append(())
            guard requests.values.count == 1 else { return }
            if let work = exchange.work { call?(work) }
            hasBegun.set()
            release.waitOnThread()
            hasReturned.set()
        }
    }

    /// Runs the work of requests on its own thread, which may block, unlike Swift's pool threads.
    private final class Loop: HTTPTransport {
        private let session = CurlSession()
        private let transport: TestTransport

        init(_ status: @escaping @Sendable (Int, HTTPRequest) throws(TransportError) -> Int = { _, _ in 200 }) {
            transport = TestTransport(status)
        }

        var executor: (any TaskExecutor)? { session.executor }
        var sent: [HTTPRequest] { transport.sent }

        /// Frees the thread that an interceptor blocks, like the host does for plugin calls.
        func replaceThread() -> Bool { (session.executor as? CurlLoop)?.handOver() == true }

        func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
            try await transport.send(request, options)
        }
    }

    /// Runs `body` instead of an interceptor's work.
    private struct Interceptor: RequestInterceptor {
        var mayBlock = true
        var retry: @Sendable () -> Void = {}
        let body: @Sendable (Exchange) async throws -> Void

        func adapt(_ exchange: inout Exchange) async throws { try await body(exchange) }

        func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool {
            retry()
            return false
        }
    }

    private struct Stamp: TokenModel {
        let value: String
        func authorize(_ request: inout HTTPRequest) throws { try request.setHeader("X-Token", value) }
        func encode() throws -> [UInt8] { Array(value.utf8) }
        static func decode(from data: [UInt8]) throws -> Stamp { Stamp(value: String(decoding: data, as: UTF8.self)) }
    }

    private let short = RequestOptions(timeout: .milliseconds(300))
    private let unlimited = RequestOptions(timeout: nil)

    private func request() throws -> HTTPRequest { try HTTPRequest(.get, "http://h/") }

    // MARK: The deadline

    @Test(arguments: [false, true])
    func `A request ends at its deadline while an interceptor blocks, and nothing follows`(inRetry: Bool) async throws {
        let transport = Loop()
        let interceptor = Blocking(inRetry: inRetry, wantsRetry: inRetry)
        let provider = NetworkProvider(session: transport, interceptor: interceptor)
        let error = await #expect(throws: NetworkError.self) { try await provider.send(request(), short) }
        guard case .timeout = error else { return #expect(Bool(false), "\(String(describing: error))") }
        interceptor.release.set()
        await interceptor.hasReturned.wait()
        // Runs after the rest of the abandoned request, on the same thread.
        _ = try await provider.send(request(), unlimited)
        #expect(transport.sent.count == (inRetry ? 3 : 1))
    }

    @Test func `Once a request has ended, its other interceptors are not called`() async throws {
        let calls = Collected<String>()
        for inRetry in [false, true] {
            let interceptor = Blocking(inRetry: inRetry)
            let others = [
                Interceptor { _ in calls.append("adapt") }, Interceptor(retry: { calls.append("retry") }, body: { _ in }),
            ]
            // A chain calls `retry` from its end.
            let chain = InterceptorChain(inRetry ? [others[1], interceptor] : [interceptor, others[0]])
            let transport = Loop()
            await #expect(throws: NetworkError.timeout) {
                try await NetworkProvider(session: transport, interceptor: chain).send(request(), short)
            }
            interceptor.release.set()
            await interceptor.hasReturned.wait()
            // Runs after the rest of the abandoned request, on the same thread.
            await Task(executorPreference: transport.executor) {}.value
        }
        #expect(calls.values.isEmpty)
    }

    @Test func `A request of a session ends at its deadline while an interceptor blocks the session's thread`() async throws {
        let requests = Collected<Void>()
        let server = try RawServer { connection, _ in
            while connection.readRequest() != nil {
                requests.append(())
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
        let interceptor = Blocking()
        let provider = NetworkProvider(session: CurlSession(), interceptor: interceptor)
        let request = try HTTPRequest(.get, server.url)
        await #expect(throws: NetworkError.timeout) { try await provider.send(request, short) }
        // The thread is still blocked. So is this request, which also ends at its deadline.
        await #expect(throws: NetworkError.timeout) { try await provider.send(request, short) }
        #expect(requests.values.isEmpty)
        interceptor.release.set()
        #expect(try await provider.send(request, unlimited).status == 204)
        #expect(requests.values.count == 1)
    }

    @Test func `A call that has not returned at the deadline is named`() async throws {
        let interceptor = Blocking { $0.begin(TestNames.names, TestNames.function) }
        let provider = NetworkProvider(session: Loop(), interceptor: interceptor)
        let error = await #expect(throws: NetworkError.self) { try await provider.send(request(), short) }
        interceptor.release.set()
        guard case .plugin(let error) = error, case .unreturned(let scheme, let function) = error.reason else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(error.plugin == "/lib/libslow.so")
        #expect(scheme == "slow")
        #expect(function == "authorize")
        #expect(
            error.description.hasPrefix(
                "/lib/libslow.so: the scheme \"slow\" had not returned from authorize when the request's deadline passed; "))
    }

    @Test func `A call learns at its end that its request has ended`() async throws {
        let ends = Collected<Bool>()
        let (isAbandoned, hasReturned) = (Latch(), Latch())
        let interceptor = Interceptor { exchange in
            let work = try #require(exchange.work)
            work.begin(TestNames.names, TestNames.function)
            ends.append(work.end())
            work.begin(TestNames.names, TestNames.function)
            isAbandoned.waitOnThread()
            ends.append(work.end())
            hasReturned.set()
        }
        let provider = NetworkProvider(session: Loop(), interceptor: interceptor)
        await #expect(throws: NetworkError.self) { try await provider.send(request(), short) }
        isAbandoned.set()
        await hasReturned.wait()
        #expect(ends.values == [true, false])
    }

    /// The transport has a more specific error.
    @Test func `A transfer that times out ends with the transport's error`() async throws {
        let server = try RawServer { connection, _ in _ = connection.waitForEnd() }
        let provider = NetworkProvider(session: CurlSession(), interceptor: Interceptor { _ in })
        let request = try HTTPRequest(.get, server.url)
        let options = RequestOptions(timeout: .milliseconds(50))
        // On a busy machine, libcurl's timer can be late.
        #expect(
            await eventually {
                do throws(NetworkError) { _ = try await provider.send(request, options) } catch {
                    if case .timeout(let error) = error {
                        return error.description != TransportError.deadlineExceeded.description
                    }
                }
                return false
            })
    }

    // MARK: Cancellation

    @Test func `A request without a timeout waits for the interceptor, and ends at once when cancelled`() async throws {
        let transport = Loop()
        for cancels in [false, true] {
            let interceptor = Blocking()
            let provider = NetworkProvider(session: transport, interceptor: interceptor)
            let task = Task { try await provider.send(request(), unlimited) }
            await interceptor.hasBegun.wait()
            if cancels {
                task.cancel()
                await #expect(throws: NetworkError.cancelled) { try await task.value }
            }
            interceptor.release.set()
            await interceptor.hasReturned.wait()
            if !cancels { #expect(try await task.value.status == 200) }
        }
        #expect(transport.sent.count == 1)
    }

    @Test func `authorize ends when cancelled while an interceptor blocks`() async throws {
        let interceptor = Blocking()
        let provider = NetworkProvider(session: CurlSession(), interceptor: interceptor)
        let task = Task { try await provider.authorize(request()) }
        await interceptor.hasBegun.wait()
        task.cancel()
        await #expect(throws: NetworkError.cancelled) { try await task.value }
        interceptor.release.set()
    }

    @Test func `A transport that notices the deadline first doesn't hide the call that used up the time`() async throws {
        let plugin = try TestPlugin.view.get().scheme().makeInstance(clock: .fixed)
        let deadline = ContinuousClock.now + .milliseconds(200)
        let error = await #expect(throws: NetworkError.self) {
            try await RequestWork.run(on: nil, until: deadline) { work throws(NetworkError) -> Void in
                _ = try? await plugin.recording("body_piece", in: work) {
                    try await Task.sleep(until: deadline - .milliseconds(5), clock: .continuous)
                    throw CancellationError()
                }
                throw NetworkError(.deadlineExceeded)
            }
        }
        #expect(error.map { "\($0)" }?.contains("had not returned from body_piece when") == true, "\(error as Any)")
    }

    // MARK: Work that continues

    @Test func `An abandoned request gives its slot to the next`() async throws {
        let transport = Loop()
        let interceptor = Blocking()
        var config = NetworkConfig()
        config.maxConcurrentRequestsPerOrigin = 1
        let provider = NetworkProvider(config: config, session: transport, interceptor: interceptor)
        await #expect(throws: NetworkError.timeout) { try await provider.send(request(), short) }
        #expect(transport.replaceThread())
        #expect(try await provider.send(request(), unlimited).status == 200)
        interceptor.release.set()
        await interceptor.hasReturned.wait()
        #expect(try await provider.send(request(), unlimited).status == 200)
        #expect(transport.sent.count == 2)
    }

    @Test func `A renewal goes on after its request has ended`() async throws {
        let renews = Latch()
        let storage = TokenStorage<Stamp>(storage: InMemoryStorage(), key: StorageKey(value: "token"))
        try await storage.save(Stamp(value: "old"))
        let authentication = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in
                await renews.wait()
                return Stamp(value: "new")
            })
        let transport = Loop { _, request in request.headers.values(of: "X-Token") == ["new"] ? 200 : 401 }
        let provider = NetworkProvider(
            session: transport, interceptor: InterceptorChain([authentication, Interceptor { _ in }]))
        await #expect(throws: NetworkError.timeout) { try await provider.send(request(), short) }
        renews.set()
        #expect(try await eventually { try await storage.load()?.value == "new" })
        #expect(try await provider.send(request(), unlimited).status == 200)
    }

    // MARK: The task

    @Test func `An interceptor sees the caller's task-local values and priority`() async throws {
        let seen = Collected<String>()
        let interceptor = Interceptor { _ in seen.append("\(Self.local) \(Task.currentPriority == .low)") }
        let provider = NetworkProvider(session: CurlSession(), interceptor: interceptor)
        try await Task(priority: .low) {
            _ = try await Self.$local.withValue(7) { try await provider.authorize(request()) }
        }.value
        #expect(seen.values == ["7 true"])
    }

    @Test func `A chain may block if one of its interceptors may`() async throws {
        let plugin = try TestPlugin.view.get().scheme().makeInstance(clock: .fixed)
        let plain = HeadersInterceptor(headers: [:])
        let session = SchemeSession(plugin, storage: InMemoryStorage())
        #expect(!InterceptorChain([plain, InterceptorChain([TokenInterceptor(Stamp(value: ""))])]).mayBlock)
        let blocking: [any RequestInterceptor] = [
            TokenInterceptor(plugin.token), session.interceptor, InterceptorChain([plain, session.interceptor]),
            AuthenticationInterceptor(
                tokenStorage: session.tokenStorage, refreshStrategy: { _ in throw NetworkError.unauthorized }),
        ]
        for interceptor in blocking {
            #expect(interceptor.mayBlock)
            #expect(InterceptorChain([plain, InterceptorChain([interceptor])]).mayBlock)
        }
        for mayBlock in [false, true] {
            let hasWork = Collected<Bool>()
            let interceptor = Interceptor(mayBlock: mayBlock) { hasWork.append($0.work != nil) }
            let provider = NetworkProvider(session: Loop(), interceptor: interceptor)
            _ = try await provider.send(request())
            _ = try await provider.authorize(request())
            #expect(hasWork.values == [mayBlock, mayBlock])
        }
    }
}

/// Never freed, as the contract of `RequestWork` requires.
private enum TestNames {
    // Written once and then only read.
    nonisolated(unsafe) static let names = {
        let names = UnsafeMutablePointer<nevod_call_names>.allocate(capacity: 1)
        names.initialize(to: nevod_call_names(library: immortal("/lib/libslow.so"), scheme: immortal("slow")))
        return UnsafePointer(names)
    }()
    // The memory of a literal.
    nonisolated(unsafe) static let function = immortal("authorize")

    private static func immortal(_ text: StaticString) -> UnsafePointer<CChar> {
        UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
