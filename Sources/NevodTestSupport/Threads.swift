import Glibc
import NevodSupport

// A static build of this package has no Testing module, and runs no tests.
#if canImport(Testing)
    import Dispatch
    package import Testing
#endif

/// Runs `work` on a new thread. It may block there, but not on the threads of Swift's pool.
package func onThread(_ work: @escaping @Sendable () -> Void) {
    pthread_detach(started(work))
}

/// Runs `body` on a new thread, and returns after the thread has ended.
package func onJoinedThread<Success: Sendable>(_ body: @escaping @Sendable () throws -> Success) throws -> Success {
    let results = Collected<Result<Success, any Error>>()
    pthread_join(started { results.append(Result { try body() }) }, nil)
    guard let result = results.values.first else { throw CancellationError() }
    return try result.get()
}

private func started(_ work: @escaping @Sendable () -> Void) -> pthread_t {
    final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Work(work)).toOpaque()
    pthread_create(
        &thread, nil,
        { context in
            if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
            return nil
        }, context)
    return thread
}

/// Awaits a blocking call on its own thread, which leaves the threads of Swift's pool to other tests.
package func onOwnThread<Success: Sendable>(_ body: @escaping @Sendable () throws -> Success) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        onThread { continuation.resume(with: Result { try body() }) }
    }
}

#if canImport(Testing)
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

/// Values that several threads collect.
package final class Collected<Value: Sendable>: Sendable {
    private let state = Locked<[Value]>([])

    package init() {}

    package func append(_ value: Value) { state.withLock { $0.append(value) } }
    package var values: [Value] { state.withLock { $0 } }
}

extension String {
    /// Whether a scheme has logged this line. On a busy machine the host adds one, about a call that took too long.
    package var isLoggedByScheme: Bool { !contains("doesn't say that it blocks (NEVOD_SCHEME_BLOCKS)") }
}
