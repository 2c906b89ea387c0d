import Glibc
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHostPostgreSQL

@Suite(.blocking, .timeLimit(.minutes(3)))
struct PostgreSQLRenewalLockTests {
    private let server: PostgreSQLServer
    private let folder: TemporaryFolder
    private let key: KeyFile

    init() throws {
        server = try PostgreSQLServer.shared()
        folder = try TemporaryFolder()
        key = KeyFile(path: "\(folder.path)/key")
    }

    private func open(_ schema: String = #function) async throws -> PostgreSQLStorage {
        try await server.open(server.schema(schema), keys: [key])
    }

    @Test func `One holder per key, in one store and in several; other keys don't wait`() async throws {
        let stores = [try await open(), try await open()]
        let inside = Shared(0)
        let most = Shared(0)
        try await withThrowingTaskGroup { group in
            for number in 0..<24 {
                group.addTask {
                    try await stores[number % 2].withRenewalLock(for: "a") {
                        let count = inside.withLock { count in
                            count += 1
                            return count
                        }
                        most.withLock { $0 = max($0, count) }
                        _ = try? await stores[number % 2].set("x", for: "a")
                        inside.withLock { $0 -= 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(most.withLock { $0 } == 1)
        // A renewal may need another token's renewal, so locks nest: in one store, and across two.
        let isRun = Shared(false)
        try await stores[0].withRenewalLock(for: "a") {
            try? await stores[0].withRenewalLock(for: "b") { isRun.withLock { $0 = true } }
        }
        #expect(isRun.withLock { $0 })
        #expect(try server.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND \(lock(stores[0], "a"))") == ["0"])
    }

    private func lock(_ storage: PostgreSQLStorage, _ key: StorageKey) -> String {
        let number = storage.dispatcher.locks.number(of: key)
        return "classid = \(number >> 32) AND objid = \(number & 0xFFFF_FFFF)"
    }

    @Test func `A wait that times out names the way to find the holder; a cancelled wait ends`() async throws {
        let (storage, other) = (try await open(), try await open())
        let (held, free) = (Latch(), Latch())
        async let holding: Void = storage.withRenewalLock(for: "a") {
            held.set()
            await free.wait()
        }
        await held.wait()
        for waiting in [storage, other] {
            let error = await #expect(throws: StorageError.self) {
                try await waiting.dispatcher.locks.withLock(for: "a", timeout: .milliseconds(20)) { Issue.record("it is held") }
            }
            #expect(error?.code == .busy)
            #expect(error?.remedy?.contains("FROM pg_locks") == true)
            let task = Task { try await waiting.withRenewalLock(for: "a") { Issue.record("it is held") } }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(try server.sql("SELECT count(*) FROM pg_locks WHERE \(lock(storage, "a"))") == ["1"])
        free.set()
        try await holding
        try await other.withRenewalLock(for: "a") {}
    }

    @Test func `A holder whose connection has ended is followed by the next, and overwrites nothing`() async throws {
        let (storage, other) = (try await open(), try await open())
        try await storage.set("1", for: "a")
        let (held, free) = (Latch(), Latch())
        let isOurs = Shared<Bool?>(nil)
        async let holding: Void = storage.withRenewalLock(for: "a") {
            held.set()
            await free.wait()
            let replaced = try? await storage.replace(Secret("1"), with: Secret("of the first"), for: "a")
            isOurs.withLock { $0 = replaced }
        }
        await held.wait()
        async let following: Void = other.withRenewalLock(for: "a") {
            _ = try? await other.replace(Secret("1"), with: Secret("of the second"), for: "a")
        }
        try server.sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE \(lock(storage, "a"))")
        try await following
        free.set()
        try await holding
        #expect(isOurs.withLock { $0 } == false)
        #expect(try await other.string(for: "a") == "of the second")
    }

    @Test func `A holder that is killed is followed by the next`() async throws {
        let storage = try await open()
        let (pid, pipe) = try PostgreSQLChild.spawn(["hold", server.connection, server.schema(), "\(folder.path)/key", "a"])
        defer { close(pipe) }
        #expect(LineReader(pipe).next() == "held")
        let error = await #expect(throws: StorageError.self) {
            try await storage.dispatcher.locks.withLock(for: "a", timeout: .milliseconds(20)) {}
        }
        #expect(error?.code == .busy)
        kill(pid, SIGKILL)
        Command.wait(for: pid)
        let isRun = Shared(false)
        try await storage.withRenewalLock(for: "a") { isRun.withLock { $0 = true } }
        #expect(isRun.withLock { $0 })
    }
}
