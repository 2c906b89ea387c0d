import NevodStorage
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests schemes that declare that they block, with a plugin in C whose calls wait for the test.
@Suite(.blocking)
struct BlockingSchemeTests {
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer()
    }

    private func sent(_ path: String, _ provider: NetworkProvider, timeout: Duration? = nil) async throws -> Int {
        try await provider.send(HTTPRequest(.get, server.url + path), RequestOptions(timeout: timeout)).status
    }

    private func received(_ path: String) -> [ScriptedServer.Request] { server.requests.filter { $0.target == path } }

    /// - Parameter timeout: the time limit that `body` gives its request. On a busy machine, it may expire before the
    ///   scheme is called. Then `body` runs again with more time.
    private func expectUnreturned(
        _ function: String, within timeout: Duration = .seconds(8), sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (Duration) async throws -> Void
    )
        async
    {
        for factor in [1, 5, 25] {
            do {
                try await body(timeout * factor)
                Issue.record("it succeeded", sourceLocation: sourceLocation)
            } catch NetworkError.plugin(let error) {
                expect(error, function, sourceLocation)
            } catch let error as PluginError {
                expect(error, function, sourceLocation)
            } catch NetworkError.timeout where factor < 25 {
                continue
            } catch {
                Issue.record(error, sourceLocation: sourceLocation)
            }
            return
        }
    }

    private func expect(_ error: PluginError, _ function: String, _ sourceLocation: SourceLocation) {
        guard case .unreturned("blocks", function) = error.reason else {
            Issue.record(error, sourceLocation: sourceLocation)
            return
        }
        #expect(
            "\(error)".contains("libslow.so: the scheme \"blocks\" had not returned from \(function)"),
            sourceLocation: sourceLocation)
    }

    @Test func `Other requests of the session go on while a call blocks`() async throws {
        let slow = try SlowScheme()
        let session = CurlSession()
        let signed = NetworkProvider(session: session, signer: slow.instance.token)
        let plain = NetworkProvider(session: session)
        async let waiting = sent("/slow", signed)
        #expect(await slow.hasEntered(1))
        for _ in 0..<20 { #expect(try await sent("/", plain) == 200) }
        #expect(received("/slow").isEmpty)
        slow.release()
        #expect(try await waiting == 200)
        #expect(received("/slow").first?["X-Token"] == "none")
    }

    @Test func `Six calls run at the same time`() async throws {
        let slow = try SlowScheme(workers: SchemeWorkers(threads: 8))
        let provider = NetworkProvider(session: CurlSession(), signer: slow.instance.token)
        try await withThrowingTaskGroup { group in
            for _ in 0..<6 { group.addTask { try await sent("/", provider) } }
            #expect(await slow.hasEntered(6))
            #expect(slow.entered.contains { $0.hasPrefix("2 enter authorize 6 ") })
            #expect(Set(slow.entered.map { $0.split(separator: " ").last }).count == 6)
            slow.release(6)
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test func `No more calls run than there are threads`() async throws {
        let workers = SchemeWorkers(threads: 2)
        let slow = try SlowScheme(workers: workers)
        let provider = NetworkProvider(session: CurlSession(), signer: slow.instance.token)
        try await withThrowingTaskGroup { group in
            for _ in 0..<5 { group.addTask { try await sent("/", provider) } }
            #expect(await slow.hasEntered(2))
            #expect(await eventually { workers.load.waiting == 3 })
            #expect(workers.load.threads == 2)
            #expect(slow.entered.count == 2)
            slow.release(5)
            for try await status in group { #expect(status == 200) }
        }
        #expect(slow.entered.count == 5)
        #expect(slow.entered.allSatisfy { $0.hasPrefix("2 enter authorize 1 ") || $0.hasPrefix("2 enter authorize 2 ") })
    }

    @Test func `A call that doesn't return fails its request at the deadline, and what it does later has no effect`() async throws
    {
        let slow = try SlowScheme()
        let provider = NetworkProvider(session: CurlSession(), signer: slow.instance.token)
        await expectUnreturned("authorize", within: .milliseconds(300)) {
            _ = try await sent("/late", provider, timeout: $0)
        }
        slow.release()
        #expect(await slow.hasLogged("leave authorize"))
        slow.release()
        #expect(try await sent("/", provider) == 200)
        #expect(received("/late").isEmpty)
    }

    @Test func `The state and token of an on_response that returns too late are dropped`() async throws {
        let slow = try SlowScheme(in: "on_response")
        let session = SchemeSession(slow.instance, storage: InMemoryStorage())
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        await expectUnreturned("on_response") { _ = try await sent("/", provider, timeout: $0) }
        slow.release()
        #expect(await slow.hasLogged("leave on_response"))
        slow.release()
        #expect(try await sent("/second", provider) == 200)
        slow.release()
        #expect(try await sent("/third", provider) == 200)
        #expect(received("/second").map { $0["X-State"] } == ["none"])
        #expect(received("/second").map { $0["X-Token"] } == ["issued"])
        #expect(received("/third").map { $0["X-State"] } == ["seen"])
        #expect(received("/third").map { $0["X-Token"] } == ["kept"])
    }

    @Test func `A token that is decoded too late is freed`() async throws {
        let slow = try SlowScheme(in: "token_decode")
        let session = SchemeSession(slow.instance, storage: InMemoryStorage())
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        await expectUnreturned("token_decode") { _ = try await sent("/", provider, timeout: $0) }
        slow.release()
        #expect(await slow.hasLogged("token_free"))
        slow.release()
        #expect(try await sent("/", provider) == 200)
        #expect(received("/").map { $0["X-Token"] } == ["issued"])
    }

    @Test(arguments: ["flow_begin", "flow_step"])
    func `A flow that doesn't return ends at its own deadline`(function: String) async throws {
        let slow = try SlowScheme(in: function)
        var driver = FlowDriver(instance: slow.instance, session: CurlSession(), interaction: nil)
        driver.limits.duration = .milliseconds(300)
        let session = SchemeSession(slow.instance, storage: InMemoryStorage(), key: nil, driver: driver)
        await expectUnreturned(function) { _ in try await session.login() }
        #expect(!slow.log.contains("2 flow_free"))
        slow.release()
        // Freed only after its step has returned.
        #expect(await slow.hasLogged("flow_free"))
        #expect(try await session.tokenStorage.load() == nil)
        driver.limits.duration = .seconds(60)
        slow.release()
        let second = SchemeSession(slow.instance, storage: InMemoryStorage(), key: nil, driver: driver)
        try await second.login()
        #expect(try await second.tokenStorage.load() != nil)
    }

    @Test func `A step of a flow has a time of its own, much shorter than the flow's`() async throws {
        #expect(FlowLimits().call == .seconds(60))
        let slow = try SlowScheme(in: "flow_step")
        var driver = FlowDriver(instance: slow.instance, session: CurlSession(), interaction: nil)
        driver.limits.call = .milliseconds(300)
        let session = SchemeSession(slow.instance, storage: InMemoryStorage(), key: nil, driver: driver)
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        let error = await #expect(throws: NetworkError.self) { try await sent("/", provider) }
        let text = "libslow.so: the scheme \"blocks\" had not returned from flow_step in time"
        #expect(error.map { "\($0)" }?.contains(text) == true, "\(error as Any)")
        slow.release()
        #expect(await slow.hasLogged("flow_free"))
        slow.release()
        #expect(try await sent("/", provider) == 200)
    }

    @Test func `A request whose time is up while it waits for a flow's step names the step`() async throws {
        let slow = try SlowScheme(in: "flow_step")
        var driver = FlowDriver(instance: slow.instance, session: CurlSession(), interaction: nil)
        // This limit isn't tested here.
        driver.limits.call = .seconds(600)
        let session = SchemeSession(slow.instance, storage: InMemoryStorage(), key: nil, driver: driver)
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        async let first: Void = expectUnreturned("flow_step") { _ = try await sent("/", provider, timeout: $0) }
        #expect(await slow.hasEntered(1))
        await expectUnreturned("flow_step", within: .seconds(6)) { _ = try await sent("/", provider, timeout: $0) }
        await first
        slow.release()
        #expect(try await sent("/", provider, timeout: .seconds(120)) == 200)
    }

    @Test func `A piece of a wrapped body that doesn't return fails the request at its deadline`() async throws {
        let slow = try SlowScheme(in: "body_piece")
        let provider = NetworkProvider(
            session: CurlSession(), interceptor: SchemeSession(slow.instance, storage: InMemoryStorage()).interceptor)
        func put(_ path: String, timeout: Duration?) async throws -> Int {
            let request = try HTTPRequest(.put, server.url + path, body: .bytes([1, 2, 3]))
            return try await provider.send(request, RequestOptions(timeout: timeout)).status
        }
        await expectUnreturned("body_piece") { _ = try await put("/late", timeout: $0) }
        slow.release()
        #expect(await slow.hasLogged("leave body_piece"))
        slow.release()
        #expect(try await put("/", timeout: .seconds(120)) == 200)
        #expect(received("/late").isEmpty)
        #expect(received("/").map(\.body) == [[1, 2, 3]])
    }

    @Test func `Without sending, a call has the time of the options`() async throws {
        let slow = try SlowScheme()
        let provider = NetworkProvider(session: CurlSession(), signer: slow.instance.token)
        let request = try HTTPRequest(.get, server.url)
        await expectUnreturned("authorize", within: .milliseconds(300)) {
            _ = try await provider.authorize(request, RequestOptions(timeout: $0))
        }
        slow.release()
        #expect(await slow.hasLogged("leave authorize"))
        slow.release()
        let authorized = try await provider.authorize(request, RequestOptions(timeout: .seconds(120)))
        #expect(authorized.headers["X-Token"] == "none")
    }

    @Test func `A cancelled request doesn't wait for its call`() async throws {
        let slow = try SlowScheme()
        let provider = NetworkProvider(session: CurlSession(), signer: slow.instance.token)
        let task = Task { try await sent("/", provider) }
        #expect(await slow.hasEntered(1))
        task.cancel()
        await #expect(throws: NetworkError.self) { try await task.value }
        #expect(!slow.log.contains("2 leave authorize"))
        #expect(server.requests.isEmpty)
    }

    @Test func `A call whose request has failed while it waited for a thread is not made`() async throws {
        let workers = SchemeWorkers(threads: 1)
        let slow = try SlowScheme(workers: workers)
        let provider = NetworkProvider(session: CurlSession(), signer: slow.instance.token)
        async let first = sent("/first", provider)
        #expect(await slow.hasEntered(1))
        await expectUnreturned("authorize", within: .milliseconds(200)) {
            _ = try await sent("/second", provider, timeout: $0)
        }
        #expect(await eventually { workers.load.waiting == 0 })
        slow.release()
        #expect(try await first == 200)
        #expect(slow.entered.count == 1)
    }

    @Test func `Without a thread, the call fails with the way out`() async throws {
        let slow = try SlowScheme(workers: SchemeWorkers(threads: 2, idleMilliseconds: 10_000) { _ in false })
        let provider = NetworkProvider(session: CurlSession(), signer: slow.instance.token)
        let error = await #expect(throws: NetworkError.self) { try await sent("/", provider) }
        #expect(error.map { "\($0)" }?.contains("the system can't start a thread for it") == true)
    }

    @Test func `Idle threads end, and others start when they are needed`() async throws {
        let workers = SchemeWorkers(threads: 3, idleMilliseconds: 10) { SystemThread.start($0) }
        for _ in 0..<3 {
            let values = try await withThrowingTaskGroup { group in
                for number in 0..<20 { group.addTask { try await workers.run(until: nil) { number } } }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(values == Set(0..<20))
            #expect(await eventually { workers.load.threads == 0 })
        }
    }

    @Test func `create runs on the caller's thread`() throws {
        let slow = try SlowScheme(in: "create", opened: true)
        #expect(slow.entered.count == 1)
    }
}
