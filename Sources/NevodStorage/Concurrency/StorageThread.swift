internal import NevodSupport

/// Where a store's blocking calls run, one after another, so that none of them holds a thread of Swift's own pool.
///
/// A system thread starts with the first call and ends when none is left to make.
package final class StorageThread: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Locked(State())

    package init() {}

    /// Runs to its end whether or not the calling task is cancelled: who saves a rotated token must not lose it halfway,
    /// nor be left in doubt.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        // Handed over under a lock: ThreadSanitizer doesn't see that what precedes a continuation's resumption precedes what follows.
        let handed = Locked<Result<Value, Failure>?>(nil)
        await withCheckedContinuation { continuation in
            enqueue {
                let result = Result(catching: body)
                handed.withLock { $0 = result }
                continuation.resume()
            }
        }
        guard let result = handed.withLock(\.self) else { preconditionFailure("resumed without a result") }
        return try result.get()
    }

    private func enqueue(_ job: @escaping @Sendable () -> Void) {
        let mustStart = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard mustStart else { return }
        // Keeps itself until its last job is done, so there is nobody who would have to join it.
        let hasStarted = SystemThread.start { self.drain() }
        precondition(hasStarted, "no thread left for a store")
    }

    private func drain() {
        while case let jobs = takeJobs(), !jobs.isEmpty {
            for job in jobs { job() }
        }
    }

    /// None: the thread ends, and the next call starts another.
    private func takeJobs() -> [@Sendable () -> Void] {
        state.withLock { state in
            if state.jobs.isEmpty { state.isRunning = false }
            defer { state.jobs = [] }
            return state.jobs
        }
    }
}
