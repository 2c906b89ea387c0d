import Glibc
import NevodStorage
import NevodTestSupport
import Testing

struct StorageThreadTests {
    private struct Failure: Error, Equatable {}

    @Test func `Results and typed errors are returned to the caller`() async throws {
        let thread = StorageThread()
        #expect(await thread.run { 42 } == 42)
        await #expect(throws: Failure()) { try await thread.run { () throws(Failure) -> Int in throw Failure() } }
    }

    @Test func `Calls run one after another, in the order in which one task makes them`() async {
        let thread = StorageThread()
        let begins = Collected<Bool>()
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    await thread.run {
                        begins.append(true)
                        sched_yield()
                        begins.append(false)
                    }
                }
            }
        }
        #expect(begins.values == (0..<400).map { $0.isMultiple(of: 2) })
        let order = Collected<Int>()
        for number in 0..<50 { await thread.run { order.append(number) } }
        #expect(order.values == Array(0..<50))
    }

    /// As many blocked calls as a pool has threads, and more, would stop everything if they ran in the pool.
    @Test func `A call that blocks holds no thread of the pool`() async {
        let latch = Latch()
        await withTaskGroup { group in
            for _ in 0..<64 {
                let thread = StorageThread()
                group.addTask { await thread.run { latch.waitOnThread() } }
            }
            group.addTask { latch.set() }
        }
    }

    @Test func `A call of a cancelled task is completed, and its result returned`() async {
        let (thread, started, go) = (StorageThread(), Latch(), Latch())
        let done = Collected<Int>()
        let blocker = Task {
            await thread.run {
                started.set()
                go.waitOnThread()
            }
        }
        await started.wait()
        let task = Task {
            await thread.run {
                done.append(7)
                return 7
            }
        }
        task.cancel()
        go.set()
        #expect(await task.value == 7)
        #expect(done.values == [7])
        await blocker.value
    }

    @Test func `The thread ends with its last reference`() async {
        weak var gone: StorageThread?
        do {
            let thread = StorageThread()
            await thread.run {}
            gone = thread
        }
        #expect(await eventually { gone == nil })
    }
}
