import NevodStorage
import NevodTestSupport
import Testing

struct AsyncLockTests {
    @Test func `A waiter that is cancelled is skipped, and the lock is passed on`() async throws {
        let lock = AsyncLock()
        let (held, goOn) = (Latch(), Latch())
        let holder = Task {
            try await lock.withLock {
                held.set()
                await goOn.wait()
            }
        }
        await held.wait()
        let cancelled = Task { try await lock.withLock { Issue.record("it was cancelled") } }
        #expect(await eventually { lock.waitingCount == 1 })
        let entered = Latch()
        let next = Task { try await lock.withLock { entered.set() } }
        #expect(await eventually { lock.waitingCount == 2 })
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        goOn.set()
        try await holder.value
        await entered.wait()
        try await next.value
        #expect(lock.waitingCount == 0)
    }
}
