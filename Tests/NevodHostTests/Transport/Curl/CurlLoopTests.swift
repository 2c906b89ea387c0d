import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost

struct CurlLoopTests {
    @Test func `Tasks that prefer the executor run on its one thread`() async throws {
        let session = CurlSession()
        let server = try RawServer.responding("HTTP/1.1 204 No Content\r\n\r\n")
        let threads = Collected<UInt>()
        let executor = try #require(session.executor)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask(executorPreference: executor) {
                    threads.append(UInt(pthread_self()))
                    _ = try await session.send(HTTPRequest(.get, server.url), TransferOptions(timeout: .seconds(30)))
                    threads.append(UInt(pthread_self()))
                    await Task.yield()
                    threads.append(UInt(pthread_self()))
                }
            }
            try await group.waitForAll()
        }
        #expect(threads.values.count == 150)
        #expect(Set(threads.values).count == 1)
        #expect(threads.values.first != UInt(pthread_self()))
    }

    @Test func `The thread ends with the session`() async throws {
        let server = try RawServer.responding("HTTP/1.1 204 No Content\r\n\r\n")
        weak var loop: CurlLoop?
        do {
            let session = CurlSession()
            loop = session.executor as? CurlLoop
            _ = try await session.send(HTTPRequest(.get, server.url), TransferOptions(timeout: .seconds(30)))
            #expect(loop != nil)
        }
        // The thread holds the loop, so the loop is deinitialized when the thread ends.
        #expect(await eventually { loop == nil })
    }

    @Test func `A session that was never used has no thread to end`() {
        weak var loop: CurlLoop?
        do {
            let session = CurlSession()
            loop = session.executor as? CurlLoop
        }
        #expect(loop == nil)
    }

    @Test func `A request that is on its way ends well after the session has gone`() async throws {
        let arrived = Latch()
        let release = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            arrived.set()
            release.waitOnThread()
            connection.write("HTTP/1.1 204 No Content\r\n\r\n")
        }
        weak var loop: CurlLoop?
        let task: Task<Int, any Error>
        do {
            let session = CurlSession()
            loop = session.executor as? CurlLoop
            task = Task { [session] in
                try await session.send(HTTPRequest(.get, server.url), TransferOptions(timeout: .seconds(30))).status
            }
        }
        await arrived.wait()
        release.set()
        #expect(try await task.value == 204)
        #expect(await eventually { loop == nil })
    }

    @Test func `A task that is late still runs after the session has gone`() async throws {
        let start = Latch()
        weak var loop: CurlLoop?
        let task: Task<Bool, Never>
        do {
            let session = CurlSession()
            loop = session.executor as? CurlLoop
            task = Task(executorPreference: session.executor) {
                await start.wait()
                return true
            }
        }
        start.set()
        #expect(await task.value)
        #expect(await eventually { loop == nil })
    }

    @Test func `Many sessions come and go`() async throws {
        let server = try RawServer.responding("HTTP/1.1 204 No Content\r\n\r\n")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await CurlSession().send(HTTPRequest(.get, server.url), TransferOptions(timeout: .seconds(30))).status
                }
            }
            for try await status in group { #expect(status == 204) }
        }
    }
}
