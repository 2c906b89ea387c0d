import Glibc
import NevodTestSupport
import Testing

@testable import NevodStorage

@Suite(.blocking) struct RenewalLocksTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/renewals"
    }

    private func storage() async throws -> SQLiteStorage {
        try await SQLiteStorage(path: "\(folder.path)/tokens.db", keys: [KeyFile(path: "\(folder.path)/key")])
    }

    @Test func `A waiter continues as soon as the holder releases the lock, and not before`() async throws {
        let locks = RenewalLocks(path: path)
        let (held, free, order) = (Latch(), Latch(), Collected<String>())
        async let first: Void = locks.withLock(for: "a") {
            held.set()
            await free.wait()
            order.append("first")
        }
        await held.wait()
        // Another storage on the same file, in the same process.
        async let second: Void = RenewalLocks(path: path).withLock(for: "a") { order.append("second") }
        // Another key has another lock, so this caller doesn't wait.
        try await locks.withLock(for: "b") { order.append("other key") }
        free.set()
        _ = try await (first, second)
        #expect(order.values == ["other key", "first", "second"])
    }

    @Test(arguments: ["", "sqlite:"]) func `A lock is free when its holder is killed`(kind: String) async throws {
        let storage: any RenewalLockingStorage =
            kind.isEmpty ? try FileStorage(directory: folder.path) : try await storage()
        let (pid, pipe) = try StorageChild.spawn(["lock", "\(kind)\(folder.path)", "a"])
        defer { close(pipe) }
        #expect(LineReader(pipe).next() == "held")
        let order = Collected<String>()
        async let taken: Void = storage.withRenewalLock(for: "a") { order.append("a") }
        try await storage.withRenewalLock(for: "b") { order.append("b") }
        #expect(order.values == ["b"])
        kill(pid, SIGKILL)
        Command.wait(for: pid)
        try await taken
        #expect(order.values == ["b", "a"])
    }

    @Test func `A wait that times out names the key and the file`() async throws {
        let locks = RenewalLocks(path: path)
        let (held, free) = (Latch(), Latch())
        async let holding: Void = locks.withLock(for: "a") {
            held.set()
            await free.wait()
        }
        await held.wait()
        let error = await #expect(throws: StorageError.self) {
            try await locks.withLock(for: "a", timeout: .milliseconds(20)) { Issue.record("two have the lock") }
        }
        #expect(error?.code == .busy && error?.subject == path)
        #expect(error?.description.contains("another process has been renewing a for 0.02 seconds") == true)
        free.set()
        try await holding
        // A waiter that gave up doesn't keep a lock that it gets later.
        try await locks.withLock(for: "a") {}
    }

    @Test func `A waiter that is cancelled leaves nothing locked`() async throws {
        let locks = RenewalLocks(path: path)
        let (held, free) = (Latch(), Latch())
        async let holding: Void = locks.withLock(for: "a") {
            held.set()
            await free.wait()
        }
        await held.wait()
        let waiter = Task { try await locks.withLock(for: "a") { Issue.record("two have the lock") } }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        free.set()
        try await holding
        try await locks.withLock(for: "a") {}
    }

    @Test func `The holder can save while others wait for this lock and another`() async throws {
        let storage = try await storage()
        let (heldA, heldB, saved) = (Latch(), Latch(), Latch())
        async let a: Void = storage.withRenewalLock(for: "a") {
            heldA.set()
            await heldB.wait()
            // More waiters than Swift's pool has threads.
            await withTaskGroup { group in
                for key: StorageKey in ["b", "b", "b", "b", "b", "b", "b", "b"] {
                    group.addTask { try? await storage.withRenewalLock(for: key) {} }
                }
                try? await storage.set("saved", for: "a")
                saved.set()
            }
        }
        async let b: Void = storage.withRenewalLock(for: "b") {
            heldB.set()
            await saved.wait()
        }
        await heldA.wait()
        _ = try await (a, b)
        #expect(try await storage.string(for: "a") == "saved")
    }

    /// Starts a process that holds the lock of `a`, in the file that currently has that name.
    private func holder() throws -> (pid: pid_t, pipe: Int32) {
        let holder = try StorageChild.spawn(["lock", folder.path, "a"])
        #expect(LineReader(holder.pipe).next() == "held")
        return holder
    }

    private func end(_ holder: (pid: pid_t, pipe: Int32)) {
        kill(holder.pid, SIGKILL)
        Command.wait(for: holder.pid)
        close(holder.pipe)
    }

    /// Starts a process for the lock of `a`. The reader's `next` is "held" when the process has the lock.
    private func taker(_ kind: String) throws -> (pid: pid_t, pipe: Int32) {
        try StorageChild.spawn(["lock", "\(kind)\(folder.path)", "a"])
    }

    private func isReadable(_ pipe: Int32) -> Bool {
        var request = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) == 1
    }

    @Test func `A waiter for a lock whose file was removed takes the new file's lock`() async throws {
        let locks = RenewalLocks(path: "\(folder.path)/.renewals")
        let (first, order) = (try holder(), Collected<String>())
        let waiter = Task { try await locks.withLock(for: "a") { order.append("waiter") } }
        #expect(await eventually { openCount(locks.path) == 1 })
        unlink(locks.path)
        end(first)
        try await waiter.value
        #expect(order.values == ["waiter"])
        // Others wait for the new file's lock.
        let (held, free) = (Latch(), Latch())
        async let holding: Void = locks.withLock(for: "a") {
            held.set()
            await free.wait()
        }
        await held.wait()
        #expect(openFiles(locks.path) == [locks.path])
        let second = try taker("")
        free.set()
        try await holding
        #expect(LineReader(second.pipe).next() == "held")
        end(second)
    }

    @Test(arguments: ["", "sqlite:"])
    func `A lock file that is removed while its lock is held gives the lock to no other process`(kind: String) async throws {
        if !kind.isEmpty { _ = try await storage() }
        let first = try taker(kind)
        #expect(LineReader(first.pipe).next() == "held")
        unlink(kind.isEmpty ? "\(folder.path)/.renewals" : "\(folder.path)/tokens.db-renewals")
        let second = try taker(kind)
        // Waits in the kernel for the guard.
        let isWaiting = await eventually { isReadable(second.pipe) || Self.systemCalls(of: second.pid).contains(Self.flockCall) }
        #expect(isWaiting && !isReadable(second.pipe))
        end(first)
        #expect(LineReader(second.pipe).next() == "held")
        end(second)
    }

    /// The number of the system call `flock`, a macro that Swift doesn't see.
    #if arch(arm64)
        private static let flockCall = 32
    #else
        private static let flockCall = 73
    #endif

    /// The numbers of the system calls in which a process's threads are.
    private static func systemCalls(of pid: pid_t) -> [Int] {
        let lines = (try? Command.output(["sh", "-c", "cat /proc/\(pid)/task/*/syscall"])) ?? ""
        return lines.split(separator: "\n").compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
    }

    @Test func `Waiters that give up on a stopped process leave one thread and one descriptor behind`()
        async throws
    {
        let locks = RenewalLocks(path: "\(folder.path)/.renewals")
        let holder = try holder()
        defer { end(holder) }
        kill(holder.pid, SIGSTOP)
        for _ in 0..<20 {
            let waiter = Task { try await locks.withLock(for: "a") { Issue.record("two have the lock") } }
            let isOne = await eventually { openCount(locks.path) == 1 }
            try #require(isOne)
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.value }
        }
        let error = await #expect(throws: StorageError.self) {
            try await locks.withLock(for: "a", timeout: .milliseconds(20)) { Issue.record("two have the lock") }
        }
        #expect(error?.code == .busy)
        // One thread still waits for the file's lock. The waiters that gave up have left nothing else.
        #expect(openCount(locks.path) == 1)
        #expect(RenewalLocks.mutexes.waitingCount(locks.place(of: "a")) == 0)
        // Another key's lock is not affected.
        try await locks.withLock(for: "b") {}
        async let last: Void = locks.withLock(for: "a") {}
        #expect(await eventually { RenewalLocks.mutexes.waitingCount(locks.place(of: "a")) == 1 })
        kill(holder.pid, SIGKILL)
        try await last
        #expect(await eventually { openCount(locks.path) == 0 })
    }

    @Test func `Waiters within one process take no thread and no descriptor`() async throws {
        let locks = RenewalLocks(path: path)
        let (held, free, order) = (Latch(), Latch(), Collected<Int>())
        async let holding: Void = locks.withLock(for: "a") {
            held.set()
            await free.wait()
        }
        await held.wait()
        try await withThrowingTaskGroup { group in
            for number in 0..<50 {
                group.addTask { try await locks.withLock(for: "a") { order.append(number) } }
            }
            #expect(await eventually { RenewalLocks.mutexes.waitingCount(locks.place(of: "a")) == 50 })
            #expect(openCount(path) == 1)
            free.set()
            try await group.waitForAll()
        }
        try await holding
        #expect(order.values.sorted() == Array(0..<50))
        #expect(openCount(path) == 0)
    }

    private func openCount(_ path: String) -> Int { openFiles(path).count }

    /// Returns this process's open files with that name, one for each descriptor. Removed files are marked as deleted.
    private func openFiles(_ path: String) -> [String] {
        (0..<1024).compactMap { descriptor in
            var target = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            guard count > 0 else { return nil }
            let name = String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
            return name.hasPrefix(path) ? name : nil
        }
    }
}
