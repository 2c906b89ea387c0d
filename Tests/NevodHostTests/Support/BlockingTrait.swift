internal import Dispatch
internal import Testing

/// Runs a test on a thread of its own, for tests that wait for other programs: Swift's pool has as many threads as the machine
/// has cores, and two such tests would hold up all others until their time is up.
struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Threads(), operation: function)
    }

    private final class Threads: TaskExecutor {
        private let queue = DispatchQueue(label: "blocking test")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}

extension Trait where Self == BlockingTrait {
    static var blocking: BlockingTrait { BlockingTrait() }
}
