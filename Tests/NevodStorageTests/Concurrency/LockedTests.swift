import NevodSupport
import NevodTestSupport
import Testing

struct LockedTests {
    /// Runs `body` on this many threads, and returns when all have ended.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { try await onOwnThread { body(number) } } }
            try await group.waitForAll()
        }
    }

    @Test func `Eight threads never hold it at the same time, and each use counts`() async throws {
        final class Shared: Sendable {
            let value = Locked((count: 0, isHeld: false, meetings: 0))
        }
        let shared = Shared()
        let uses = 50_000
        try await onThreads(8) { _ in
            for _ in 0..<uses {
                shared.value.withLock { value in
                    if value.isHeld { value.meetings += 1 }
                    value.isHeld = true
                    value.count += 1
                    value.isHeld = false
                }
            }
        }
        #expect(shared.value.withLock { $0 } == (8 * uses, false, 0))
    }

    /// With a lock that the kernel passes from holder to waiter, each use costs up to 35 µs on two processors (measured), and all
    /// of them take minutes.
    @Test(.timeLimit(.minutes(1))) func `More threads than processors meet without a convoy`() async throws {
        final class Shared: Sendable {
            let value = Locked([Int](repeating: 0, count: 64))
        }
        let shared = Shared()
        try await onThreads(8) { number in
            for round in 0..<500_000 { shared.value.withLock { $0[(number + round) % 64] += 1 } }
        }
        #expect(shared.value.withLock { $0.reduce(0, +) } == 4_000_000)
    }

    @Test func `A waiter sleeps until the holder is done`() async throws {
        final class Shared: Sendable {
            let value = Locked(0)
        }
        let (shared, isHeld, mayEnd) = (Shared(), Latch(), Latch())
        let seen = Collected<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await onOwnThread {
                    shared.value.withLock { value in
                        isHeld.set()
                        mayEnd.waitOnThread()
                        value = 1
                    }
                }
            }
            await isHeld.wait()
            for _ in 0..<4 { group.addTask { try await onOwnThread { seen.append(shared.value.withLock { $0 }) } } }
            mayEnd.set()
            try await group.waitForAll()
        }
        #expect(seen.values == [1, 1, 1, 1])
    }

    @Test func `It releases its value, and a throwing body releases the lock`() throws {
        final class Owned: Sendable {
            let onDeinit: @Sendable () -> Void
            init(_ onDeinit: @escaping @Sendable () -> Void) { self.onDeinit = onDeinit }
            deinit { onDeinit() }
        }
        let freed = Collected<Void>()
        do {
            let locked = Locked(Owned { freed.append(()) })
            #expect(throws: CancellationError.self) { try locked.withLock { _ in throw CancellationError() } }
            #expect(freed.values.isEmpty)
            locked.withLock { _ in }
        }
        #expect(freed.values.count == 1)
    }
}
