import Foundation
import Glibc
import NevodTestSupport
import Synchronization
import Testing

@testable import NevodHost

/// Tests jobs that block a session's thread, and the thread that takes over.
struct CurlHandOverTests {
    private let session = CurlSession()
    private let options = TransferOptions(timeout: .seconds(30))

    private func loop() throws -> CurlLoop { try #require(session.executor as? CurlLoop) }

    /// A server that immediately responds to each request on a connection.
    private func server() throws -> RawServer {
        try RawServer { connection, _ in
            while connection.readRequest() != nil { connection.write("HTTP/1.1 204 No Content\r\n\r\n") }
        }
    }

    /// A task on the session's thread, blocked until `release` is set.
    private struct Blocked {
        let thread: UInt
        let release: Latch
        let task: Task<[UInt], any Error>
    }

    /// - Parameter rest: runs in the task after it was blocked, starting in the same job.
    /// - Returns: when the task blocks the thread. The task returns the threads on which it was blocked and on which it went on.
    private func block(_ rest: @escaping @Sendable () async throws -> Void = {}) async -> Blocked {
        let (hasBegun, release, thread) = (Latch(), Latch(), Collected<UInt>())
        let task = Task(executorPreference: session.executor) {
            let first = currentThread()
            thread.append(first)
            hasBegun.set()
            release.waitOnThread()
            let second = currentThread()
            try await rest()
            return [first, second]
        }
        await hasBegun.wait()
        return Blocked(thread: thread.values[0], release: release, task: task)
    }

    // MARK: One blocked job

    @Test func `Other requests go on while a job blocks, and the job goes on afterwards`() async throws {
        let server = try server()
        let threads = Collected<UInt>()
        let blocked = await block { [session, options] in
            // If another thread finishes before this one has suspended, the work goes on here. That seldom happens twice.
            let former = currentThread()
            for _ in 0..<10_000 where currentThread() == former { await Task.yield() }
            // From here on, another thread has the loop.
            threads.append(currentThread())
            let status = try await session.send(HTTPRequest(.get, server.url), options).status
            #expect(status == 204)
            await Task.yield()
            threads.append(currentThread())
        }
        #expect(try loop().handOver())
        for _ in 0..<10 { #expect(try await session.send(HTTPRequest(.get, server.url), options).status == 204) }
        blocked.release.set()
        #expect(try await blocked.task.value == [blocked.thread, blocked.thread])
        #expect(threads.values.count == 2)
        #expect(Set(threads.values).count == 1)
        #expect(threads.values.first != blocked.thread)
    }

    @Test func `Jobs that were waiting behind the blocked one run once`() async throws {
        let runs = Shared()
        let release = Latch()
        let hasBegun = Latch()
        let executor = try loop()
        let tasks = Task(executorPreference: executor) {
            // All of these are enqueued before any of them runs.
            (0..<100).map { index in
                Task(executorPreference: executor) {
                    if index == 50 {
                        hasBegun.set()
                        release.waitOnThread()
                    }
                    runs.add()
                    await Task.yield()
                    runs.add()
                }
            }
        }
        await hasBegun.wait()
        #expect(runs.value == 50)
        #expect(executor.handOver())
        #expect(await eventually { runs.value == 198 })
        release.set()
        for task in await tasks.value { await task.value }
        #expect(runs.value == 200)
    }

    @Test func `The thread that replaced another one can be replaced as well`() async throws {
        let server = try server()
        var all: [Blocked] = []
        for _ in 0..<4 {
            let blocked = await block { [session, options] in
                _ = try await session.send(HTTPRequest(.get, server.url), options)
            }
            #expect(try loop().handOver())
            all.append(blocked)
        }
        #expect(Set(all.map(\.thread)).count == 4)
        #expect(try await session.send(HTTPRequest(.get, server.url), options).status == 204)
        for blocked in all.reversed() { blocked.release.set() }
        for blocked in all { #expect(try await blocked.task.value == [blocked.thread, blocked.thread]) }
    }

    @Test func `Without a job in progress there is nothing to hand over`() async throws {
        let server = try server()
        let loop = try loop()
        #expect(!loop.handOver())
        _ = try await session.send(HTTPRequest(.get, server.url), options)
        // The job that has resumed this test may still be about to return.
        #expect(await eventually { !loop.handOver() })
        let blocked = await block()
        #expect(loop.handOver())
        #expect(!loop.handOver())
        blocked.release.set()
        _ = try await blocked.task.value
        #expect(try await session.send(HTTPRequest(.get, server.url), options).status == 204)
    }

    // MARK: Transfers in progress

    @Test func `Transfers that are in progress end on the new thread`() async throws {
        let arrived = Collected<Void>()
        let respond = Latch()
        let server = try RawServer { connection, _ in
            guard let request = connection.readRequest() else { return }
            arrived.append(())
            respond.waitOnThread()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n")
            connection.write(request.body)
        }
        let bodies = (0..<8).map { [UInt8](repeating: UInt8($0), count: 1 + $0 * 50_000) }
        let responses = bodies.map { body in
            Task { [session, options] in
                let options = TransferOptions(
                    timeout: options.timeout, delivery: body.count % 100_000 == 1 ? .streamed : options.delivery)
                let response = try await session.send(HTTPRequest(.post, server.url, body: .bytes(body)), options)
                return try await response.body.collect()
            }
        }
        #expect(await eventually { arrived.values.count == bodies.count })
        let blocked = await block()
        #expect(try loop().handOver())
        respond.set()
        for (body, response) in zip(bodies, responses) { #expect(try await response.value == body) }
        blocked.release.set()
        _ = try await blocked.task.value
    }

    @Test func `A body's reader that blocks doesn't stop other requests`() async throws {
        let server = try server()
        let reader = BlockingReader()
        let body = HTTPBodyStream(length: 3, isReplayable: false) { reader }
        let upload = Task { [session, options] in
            try await session.send(HTTPRequest(.post, server.url, body: .stream(body)), options).status
        }
        await reader.isBlocked.wait()
        #expect(try loop().handOver())
        #expect(try await session.send(HTTPRequest(.get, server.url), options).status == 204)
        reader.release.set()
        #expect(try await upload.value == 204)
    }

    @Test func `A request is cancelled, and another times out, while a job blocks`() async throws {
        let arrived = Collected<Void>()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            arrived.append(())
            _ = connection.waitForEnd()
        }
        let cancelled = Task { [session] in
            try await session.send(HTTPRequest(.get, server.url), TransferOptions(timeout: nil)).status
        }
        #expect(await eventually { arrived.values.count == 1 })
        let blocked = await block()
        #expect(try loop().handOver())
        cancelled.cancel()
        let cancellation = await #expect(throws: TransportError.self) { try await cancelled.value }
        #expect(cancellation?.code == .cancelled)
        let short = TransferOptions(timeout: .milliseconds(50))
        let error = await #expect(throws: TransportError.self) { try await session.send(HTTPRequest(.get, server.url), short) }
        #expect(error?.code == .timedOut)
        blocked.release.set()
        _ = try await blocked.task.value
    }

    // MARK: Races

    /// The job returns, enqueues and sends at the moment at which its thread is replaced.
    @Test func `A job that returns during the hand-over is not lost`() async throws {
        let server = try server()
        let loop = try loop()
        let runs = Shared()
        let taken = Shared()
        for round in 0..<500 {
            let hasBegun = Shared()
            async let isTaken = onOwnThread {
                while hasBegun.value == 0 { sched_yield() }
                return loop.handOver()
            }
            let sends = round % 10 == 0
            let task = Task(executorPreference: loop) { [session, options] in
                hasBegun.add()
                for _ in 0..<round % 50 { sched_yield() }
                let child = Task(executorPreference: loop) { _ = runs.add() }
                if sends { _ = try await session.send(HTTPRequest(.get, server.url), options) }
                await Task.yield()
                runs.add()
                await child.value
            }
            try await task.value
            if try await isTaken { taken.add() }
        }
        #expect(runs.value == 1000)
        // Enough jobs wait for a while that some of them are caught.
        #expect(taken.value > 0)
        #expect(try await session.send(HTTPRequest(.get, server.url), options).status == 204)
    }

    @Test func `Of many hand-overs of one job, one succeeds`() async throws {
        let server = try server()
        let loop = try loop()
        for _ in 0..<20 {
            let blocked = await block()
            let successes = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 { group.addTask { try await onOwnThread { loop.handOver() } } }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(successes == 1)
            blocked.release.set()
            _ = try await blocked.task.value
        }
        #expect(try await session.send(HTTPRequest(.get, server.url), options).status == 204)
    }

    // MARK: The end

    @Test func `A session ends while a job blocks, and the job ends well`() async throws {
        let server = try server()
        let (hasBegun, release) = (Latch(), Latch())
        weak var loop: CurlLoop?
        let task: Task<Int, Never>
        do {
            let session = CurlSession()
            loop = session.executor as? CurlLoop
            task = Task(executorPreference: session.executor) {
                hasBegun.set()
                release.waitOnThread()
                // The loop no longer has a thread. The rest of this task starts one.
                for _ in 0..<10 { await Task.yield() }
                return 1
            }
            await hasBegun.wait()
            #expect(loop?.handOver() == true)
            #expect(try await session.send(HTTPRequest(.get, server.url), options).status == 204)
        }
        // The new thread has ended.
        #expect(await eventually { loop?.isRunning == false })
        release.set()
        #expect(await task.value == 1)
        #expect(await eventually { loop == nil })
    }

    @Test func `A session whose blocked thread was not replaced ends with the job`() async {
        let (hasBegun, release) = (Latch(), Latch())
        weak var loop: CurlLoop?
        let task: Task<Int, Never>
        do {
            let session = CurlSession()
            loop = session.executor as? CurlLoop
            task = Task(executorPreference: session.executor) {
                hasBegun.set()
                release.waitOnThread()
                return 1
            }
            await hasBegun.wait()
        }
        release.set()
        #expect(await task.value == 1)
        #expect(await eventually { loop == nil })
    }

    // MARK: No thread

    @Test func `If no thread can be started, a blocked one stays`() async {
        await #expect(processExitsWith: .success) {
            let session = CurlSession()
            let loop = try #require(session.executor as? CurlLoop)
            let hasBegun = Shared()
            let mayEnd = Shared()
            let task = Task(executorPreference: loop) {
                hasBegun.add()
                while mayEnd.value == 0 { sched_yield() }
            }
            while hasBegun.value == 0 { sched_yield() }
            let isHandedOver = try withoutThreads { loop.handOver() }
            mayEnd.add()
            await task.value
            let isWell = await Task(executorPreference: loop) { true }.value
            exit(!isHandedOver && isWell ? 0 : 1)
        }
    }

    @Test func `If no thread can be started, requests fail, and tasks run elsewhere`() async throws {
        let server = try server()
        await #expect(processExitsWith: .success) { [url = server.url as String] in
            let session = CurlSession()
            let loop = try #require(session.executor as? CurlLoop)
            let request = try HTTPRequest(.get, url)
            let (failed, ran) = (Latch(), Latch())
            try withoutThreads {
                // Runs on this thread up to its first suspension, where the loop's thread would be started.
                Task.immediate {
                    do throws(TransportError) { _ = try await session.send(request, TransferOptions()) } catch {
                        if error.code == .other { failed.set() }
                    }
                }
                Task(executorPreference: loop) { ran.set() }
            }
            await failed.wait()
            await ran.wait()
            // When threads can be started again, everything works.
            let status = try await session.send(request, TransferOptions(timeout: .seconds(30))).status
            exit(status == 204 ? 0 : 1)
        }
    }
}

/// Callable in asynchronous functions.
private func currentThread() -> UInt { UInt(pthread_self()) }

/// Runs `body` while the process can't start threads, because none gets a stack of 2⁵⁰ bytes; for at most 5 seconds.
private func withoutThreads<Success>(_ body: () throws -> Success) throws -> Success {
    typealias SetDefaults = @Sendable @convention(c) (UnsafePointer<pthread_attr_t>) -> Int32
    // Swift's module of the C library lacks it.
    guard let symbol = dlsym(nil, "pthread_setattr_default_np") else { throw Command.Failure(description: "not glibc") }
    let setDefaults = unsafeBitCast(symbol, to: SetDefaults.self)
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    func setStack(_ size: Int) throws {
        guard pthread_attr_setstacksize(&attributes, size) == 0, setDefaults(&attributes) == 0 else {
            throw Command.Failure(description: "the size of stacks can't be set")
        }
    }
    // If Dispatch wants another worker meanwhile, it holds the calling thread until one can be started. It isn't held for ever.
    let isDone = DispatchSemaphore(value: 0)
    let hasEnded = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        var usual = pthread_attr_t()
        pthread_attr_init(&usual)
        defer { pthread_attr_destroy(&usual) }
        pthread_attr_setstacksize(&usual, 8 << 20)
        if isDone.wait(timeout: .now() + .seconds(5)) == .timedOut { _ = setDefaults(&usual) }
        hasEnded.signal()
    }
    try setStack(1 << 50)
    let result = Result { try body() }
    isDone.signal()
    hasEnded.wait()
    try setStack(8 << 20)
    return try result.get()
}

/// A number that several threads increment, without a lock that would order their actions.
private final class Shared: Sendable {
    private let atomic = Atomic<Int>(0)
    var value: Int { atomic.load(ordering: .acquiring) }
    @discardableResult
    func add() -> Int { atomic.add(1, ordering: .releasing).newValue }
}

private final class BlockingReader: HTTPBodyReader {
    let isBlocked = Latch()
    let release = Latch()
    private let hasRead = Shared()

    func read(upTo count: Int) async throws -> [UInt8] {
        guard hasRead.add() == 1 else { return [] }
        isBlocked.set()
        release.waitOnThread()
        return [1, 2, 3]
    }
}
