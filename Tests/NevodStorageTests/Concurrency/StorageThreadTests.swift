import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

struct StorageThreadTests {
    private let failure = StorageError(.other, "a", problem: "failed")

    @Test func `Results and typed errors are returned to the caller`() async throws {
        let thread = StorageThread()
        #expect(try await thread.run { 42 } == 42)
        await #expect(throws: failure) { try await thread.run { [failure] () throws(StorageError) -> Int in throw failure } }
    }

    @Test func `Calls run one after another, in the order in which one task makes them`() async throws {
        let thread = StorageThread()
        let begins = Collected<Bool>()
        try await withThrowingTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    try await thread.run {
                        begins.append(true)
                        sched_yield()
                        begins.append(false)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(begins.values == (0..<400).map { $0.isMultiple(of: 2) })
        let order = Collected<Int>()
        for number in 0..<50 { try await thread.run { order.append(number) } }
        #expect(order.values == Array(0..<50))
    }

    /// Runs more blocking calls than the pool has threads. In the pool, they would stop everything.
    @Test func `A call that blocks holds no thread of the pool`() async throws {
        let latch = Latch()
        try await withThrowingTaskGroup { group in
            for _ in 0..<64 {
                let thread = StorageThread()
                group.addTask { try await thread.run { latch.waitOnThread() } }
            }
            group.addTask { latch.set() }
            try await group.waitForAll()
        }
    }

    @Test func `A call of a cancelled task is completed, and its result returned`() async throws {
        let (thread, started, go) = (StorageThread(), Latch(), Latch())
        let done = Collected<Int>()
        let blocker = Task {
            try await thread.run {
                started.set()
                go.waitOnThread()
            }
        }
        await started.wait()
        let task = Task {
            try await thread.run {
                done.append(7)
                return 7
            }
        }
        task.cancel()
        go.set()
        #expect(try await task.value == 7)
        #expect(done.values == [7])
        try await blocker.value
    }

    @Test func `The thread ends with its last reference`() async throws {
        weak var gone: StorageThread?
        do {
            let thread = StorageThread()
            try await thread.run {}
            gone = thread
        }
        #expect(await eventually { gone == nil })
    }

    @Test func `Without a thread every waiting call fails, and the next one tries again`() async throws {
        let canStart = Collected<Bool>()
        let attempts = Locked(0)
        let thread = StorageThread { body in
            attempts.withLock { $0 += 1 }
            guard !canStart.values.isEmpty else { return false }
            return SystemThread.start(body)
        }
        for _ in 0..<2 {
            let error = await #expect(throws: StorageError.self) { try await thread.run { Issue.record("it ran") } }
            #expect(error?.code == .unavailable)
        }
        canStart.append(true)
        #expect(try await thread.run { 42 } == 42)
        #expect(attempts.withLock(\.self) == 3)
    }
}
