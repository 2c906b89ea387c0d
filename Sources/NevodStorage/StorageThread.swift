internal import NevodSupport

/// Runs a store's blocking calls one after another on a system thread, so that they don't block Swift's thread pool.
///
/// The thread starts with the first call and ends when no call is left.
package final class StorageThread: Sendable {
    private struct Job {
        let run: @Sendable () -> Void
        /// Called instead of ``run`` if no thread could be started.
        let fail: @Sendable () -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var isRunning = false
    }

    private let state = Locked(State())
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool

    package convenience init() {
        self.init { SystemThread.start($0) }
    }

    /// - Parameter startThread: Returns whether a thread was started; for tests.
    package init(startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool) {
        self.startThread = startThread
    }

    /// Runs the call to completion, even if the calling task is cancelled: a caller that saves a rotated token must not lose it
    /// halfway, and must learn the result.
    ///
    /// - Throws: the call's error; `StorageError` of code `unavailable` if the system has no thread left.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        // Passed through a lock: ThreadSanitizer doesn't know that resuming a continuation orders memory.
        let outcome = Locked<Result<Value, StorageError>?>(nil)
        await withCheckedContinuation { continuation in
            enqueue(
                Job(
                    run: {
                        let result = Result(catching: body)
                        outcome.withLock { $0 = result }
                        continuation.resume()
                    }, fail: { continuation.resume() }))
        }
        guard let result = outcome.withLock(\.self) else {
            throw StorageError.noThread("the store", "can't be used")
        }
        return try result.get()
    }

    private func enqueue(_ job: Job) {
        let mustStart = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // The thread retains this object until its last job is done, so nothing has to join it.
        guard mustStart, !startThread({ self.drain { $0.run() } }) else { return }
        drain { $0.fail() }
    }

    private func drain(_ body: (Job) -> Void) {
        while case let jobs = takeJobs(), !jobs.isEmpty {
            for job in jobs { body(job) }
        }
    }

    /// - Returns: an empty array if the thread is to end; the next call then starts another thread.
    private func takeJobs() -> [Job] {
        state.withLock { state in
            if state.jobs.isEmpty { state.isRunning = false }
            defer { state.jobs = [] }
            return state.jobs
        }
    }
}

extension StorageError {
    /// - Parameter consequence: What is impossible without a thread, such as "can't be used".
    static func noThread(_ subject: String, _ consequence: String) -> StorageError {
        StorageError(
            .unavailable, subject, problem: "\(consequence): the system has no thread left",
            remedy: "raise the limit on threads (ulimit -u, or pids.max of the cgroup)")
    }
}
