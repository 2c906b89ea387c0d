// A static build of this package has no Testing module, and runs no tests.
#if canImport(Testing)
    import Dispatch
    package import Testing

    /// Runs each test on a thread of its own, for tests that block while another program works: Swift's pool has as many
    /// threads as the machine has cores, and two such tests would hold up all others until they time out.
    package struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
        package var isRecursive: Bool { true }

        package func provideScope(
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
        package static var blocking: BlockingTrait { BlockingTrait() }
    }
#endif
