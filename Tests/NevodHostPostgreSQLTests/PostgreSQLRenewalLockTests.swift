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
        // A renewal may need another token's renewal, so locks nest, in one store and across two.
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

    /// A store whose locks outlive the connection by half a second.
    private func openBrief(_ schema: String = #function) async throws -> PostgreSQLStorage {
        try await PostgreSQLStorage(
            connection: server.connection, schema: server.schema(schema), keys: [key],
            times: PostgreSQLRenewalTimes(beat: .milliseconds(50), patience: .milliseconds(500)))
    }

    private func endConnection(of storage: PostgreSQLStorage, _ key: StorageKey) throws {
        try server.sql("SELECT pg_terminate_backend(pid, 60000) FROM pg_locks WHERE \(lock(storage, key))")
    }

    @Test func `A holder whose connection is ended keeps the lock until it has saved its value`() async throws {
        let (storage, other) = (try await openBrief(), try await openBrief())
        try await storage.set("1", for: "a")
        let (held, free) = (Latch(), Latch())
        let isOurs = Shared<Bool?>(nil)
        let found = Shared<String?>(nil)
        async let holding: Void = storage.withRenewalLock(for: "a") {
            held.set()
            await free.wait()
            let replaced = try? await storage.replace(Secret("1"), with: Secret("2"), for: "a")
            isOurs.withLock { $0 = replaced }
        }
        await held.wait()
        async let following: Void = other.withRenewalLock(for: "a") {
            let value = try? await other.string(for: "a")
            found.withLock { $0 = value }
        }
        // Longer than a waiter waits for a silent holder.
        for _ in 0..<20 {
            try endConnection(of: storage, "a")
            usleep(50_000)
        }
        #expect(found.value == nil)
        free.set()
        try await holding
        try await following
        #expect(isOurs.value == true)
        #expect(found.value == "2")
        #expect(try server.sql("SELECT holder FROM \(server.schema()).entry") == [])
    }

    @Test func `There is one holder at a time, however often connections end`() async throws {
        let own = try PostgreSQLServer()
        let rounds = Rounds("RENEWALS", default: 20)
        var stores: [PostgreSQLStorage] = []
        // On a busy machine, connections may end faster than one can be made. This goes on for longer than a waiter would wait
        // for a silent holder.
        let times = PostgreSQLRenewalTimes(patience: .seconds(600), term: .seconds(600))
        for _ in 0..<4 {
            stores.append(
                try await PostgreSQLStorage(connection: own.connection, schema: "nevod", keys: [key], times: times))
        }
        try await stores[0].set("0", for: "n")
        let (inside, most, refused, isDone) = (Shared(0), Shared(0), Shared(0), Shared(false))
        async let ending: Void = onOwnThread {
            var random = rounds.random
            while !isDone.value {
                try own.sql(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND random() < 0.3
                    """)
                usleep(.random(in: 0...100_000, using: &random))
            }
        }
        let deadline = ContinuousClock.now + .seconds(90)
        await withTaskGroup { group in
            for storage in stores {
                group.addTask {
                    var count = 0
                    while count < rounds.count, ContinuousClock.now < deadline {
                        let isRun = Shared(false)
                        try? await storage.withRenewalLock(for: "n") {
                            isRun.withLock { $0 = true }
                            let now = inside.withLock { inside in
                                inside += 1
                                return inside
                            }
                            most.withLock { $0 = max($0, now) }
                            let old = try? await storage.string(for: "n")
                            // The lock of a holder that has saved and has no connection is free, maybe before the holder knows.
                            inside.withLock { $0 -= 1 }
                            if let old {
                                let new = Secret("\((Int(old) ?? 0) + 1)")
                                let isReplaced = try? await storage.replace(Secret(old), with: new, for: "n")
                                if isReplaced == false { refused.withLock { $0 += 1 } }
                            }
                        }
                        if isRun.value { count += 1 }
                    }
                    #expect(count == rounds.count)
                }
            }
        }
        isDone.withLock { $0 = true }
        try await ending
        #expect(most.value == 1)
        // Only the holder changes the value.
        #expect(refused.value == 0)
    }

    @Test func `A holder that was away for too long stops, and what it saves is refused`() async throws {
        // It signals too rarely that it is alive.
        let mute = try await PostgreSQLStorage(
            connection: server.connection, schema: server.schema(), keys: [key],
            times: PostgreSQLRenewalTimes(beat: .seconds(3600), patience: .milliseconds(500)))
        let other = try await openBrief()
        try await mute.set("1", for: "a")
        let (held, free, taken, done) = (Latch(), Latch(), Latch(), Latch())
        let errors = Collected<any Error>()
        let isSaved = Shared<Bool?>(nil)
        async let holding: Void = mute.withRenewalLock(for: "a") {
            do { try await mute.confirmRenewalLock(for: "a") } catch { Issue.record("\(error)") }
            held.set()
            await free.wait()
            do { try await mute.confirmRenewalLock(for: "a") } catch { errors.append(error) }
            let replaced = try? await mute.replace(Secret("1"), with: Secret("late"), for: "a")
            isSaved.withLock { $0 = replaced }
        }
        await held.wait()
        async let following: Void = other.withRenewalLock(for: "a") {
            taken.set()
            await done.wait()
            _ = try? await other.replace(Secret("1"), with: Secret("2"), for: "a")
        }
        try endConnection(of: mute, "a")
        await taken.wait()
        free.set()
        try await holding
        #expect((errors.values.first as? StorageError)?.code == .busy)
        #expect(isSaved.value == false)
        #expect(try await mute.string(for: "a") == "1")
        done.set()
        try await following
        #expect(try await other.string(for: "a") == "2")
    }

    @Test func `A holder that has saved its value and ended isn't waited for`() async throws {
        let other = try await open()
        // As if it had ended: it doesn't signal that it is alive, which would get it another connection.
        let storage = try await PostgreSQLStorage(
            connection: server.connection, schema: server.schema(), keys: [key],
            times: PostgreSQLRenewalTimes(beat: .seconds(3600)))
        try await storage.set("1", for: "a")
        let (held, free) = (Latch(), Latch())
        async let holding: Void = storage.withRenewalLock(for: "a") {
            _ = try? await storage.replace(Secret("1"), with: Secret("2"), for: "a")
            held.set()
            await free.wait()
        }
        await held.wait()
        try endConnection(of: storage, "a")
        try await other.dispatcher.locks.withLock(for: "a", timeout: .seconds(10)) {}
        free.set()
        try await holding
    }

    @Test func `A login is saved whoever holds the lock`() async throws {
        let (storage, other) = (try await open(), try await open())
        try await storage.withRenewalLock(for: "a") { try? await other.set("login", for: "a") }
        #expect(try await storage.string(for: "a") == "login")
    }

    @Test func `A holder that is killed is followed by the next`() async throws {
        let storage = try await openBrief()
        let (pid, pipe) = try PostgreSQLChild.spawn(["hold", server.connection, server.schema(), "\(folder.path)/key", "a"])
        defer { close(pipe) }
        #expect(LineReader(pipe).next() == "held")
        let error = await #expect(throws: StorageError.self) {
            try await storage.dispatcher.locks.withLock(for: "a", timeout: .milliseconds(20)) {}
        }
        #expect(error?.code == .busy)
        #expect(error?.problem.contains("(process \(pid) on ") == true)
        kill(pid, SIGKILL)
        Command.wait(for: pid)
        let isRun = Shared(false)
        try await storage.withRenewalLock(for: "a") { isRun.withLock { $0 = true } }
        #expect(isRun.withLock { $0 })
    }

    @Test func `A holder that is stopped loses the lock after its term, though its connection lives`() async throws {
        let storage = try await PostgreSQLStorage(
            connection: server.connection, schema: server.schema(), keys: [key],
            times: PostgreSQLRenewalTimes(beat: .seconds(3600), patience: .milliseconds(300), term: .seconds(1)))
        let other = try await openBrief()
        let (held, free) = (Latch(), Latch())
        async let holding: Void = storage.withRenewalLock(for: "a") {
            held.set()
            await free.wait()
        }
        await held.wait()
        let isRun = Shared(false)
        try await other.withRenewalLock(for: "a") { isRun.withLock { $0 = true } }
        #expect(isRun.value)
        free.set()
        try await holding
        try await other.withRenewalLock(for: "a") {}
    }

    @Test func `A release that gets no thread is made when there is one`() async throws {
        let storage = try await open()
        let canStart = Shared(true)
        let running = Shared(0)
        let thread = StorageThread { body in
            guard canStart.value else { return false }
            running.withLock { $0 += 1 }
            return SystemThread.start {
                body()
                running.withLock { $0 -= 1 }
            }
        }
        let locks = PostgreSQLRenewalLocks(
            try PostgreSQLTarget(LibPQ(), server.connection), storage.schema, channel: storage.channel,
            store: storage.keyring.store, times: PostgreSQLRenewalTimes(beat: .seconds(5)), thread: thread)
        try await locks.withLock(for: "a") {
            // The thread that took the lock must also release it.
            #expect(await eventually { running.value == 0 })
            canStart.withLock { $0 = false }
        }
        #expect(try server.sql("SELECT count(holder) FROM \(server.schema()).entry") == ["1"])
        canStart.withLock { $0 = true }
        #expect(try await eventually { try server.sql("SELECT count(holder) FROM \(server.schema()).entry") == ["0"] })
        try await storage.withRenewalLock(for: "a") {}
    }

    @Test func `A release that can't reach the server is made when it is back`() async throws {
        let own = try PostgreSQLServer()
        let (storage, other) = (try await own.open("nevod", keys: [key]), try await own.open("nevod", keys: [key]))
        try await storage.withRenewalLock(for: "a") { own.stopOrStart() }
        own.stopOrStart()
        // Before a waiter gives up on a silent holder.
        #expect(try await eventually { try own.sql("SELECT count(holder) FROM nevod.entry") == ["0"] })
        try await other.withRenewalLock(for: "a") {}
    }
}

struct PostgreSQLRenewalWatchTests {
    private let start = ContinuousClock.now
    private let one = PostgreSQLRenewalWatch.Sight(holder: "h", beat: 1)

    private func watch(_ looks: [(after: Double, PostgreSQLRenewalWatch.Sight?)]) -> PostgreSQLRenewalWatch {
        var watch = PostgreSQLRenewalWatch(patience: .seconds(20))
        for (time, sight) in looks { watch.see(sight, at: start + .seconds(time)) }
        return watch
    }

    private func every(_ step: Double, _ range: ClosedRange<Double>) -> [(after: Double, PostgreSQLRenewalWatch.Sight?)] {
        stride(from: range.lowerBound, through: range.upperBound, by: step).map { ($0, one) }
    }

    @Test func `Only a holder that is seen without a sign of life, and without a gap, can be replaced`() {
        #expect(watch(every(0.5, 0...20)).replaceable(at: start + .seconds(20)) == one)
        #expect(watch(every(0.5, 0...19)).replaceable(at: start + .seconds(20)) == nil)
        // The server or this process was unreachable in between, or has been since.
        #expect(watch(every(0.5, 0...10) + every(0.5, 14...33)).replaceable(at: start + .seconds(33)) == nil)
        #expect(watch(every(0.5, 0...10) + every(0.5, 14...34)).replaceable(at: start + .seconds(34)) == one)
        #expect(watch(every(0.5, 0...20)).replaceable(at: start + .seconds(24)) == nil)
        let beating = every(0.5, 0...10) + [(10.5, PostgreSQLRenewalWatch.Sight(holder: "h", beat: 2))]
        #expect(watch(beating + every(0.5, 11...29)).replaceable(at: start + .seconds(29)) == nil)
        #expect(watch([]).replaceable(at: start) == nil)
    }
}
