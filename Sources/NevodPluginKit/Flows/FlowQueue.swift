internal import NevodSupport

/// Runs a flow's function on whatever thread calls ``drain()``, and on no other: a plugin has no thread of its own.
final class FlowQueue: TaskExecutor {
    private struct Jobs {
        var waiting: [UnownedJob] = []
        var isClosed = false
    }

    private let jobs = Locked(Jobs())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isClosed = jobs.withLock { jobs in
            if !jobs.isClosed { jobs.waiting.append(job) }
            return jobs.isClosed
        }
        // Something outside wakes a function that was given up. Nobody drains any more; it may end elsewhere.
        if isClosed { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// Until nothing is left.
    func drain() {
        while let job = next(closing: false) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// The same, for the last time.
    func drainAndClose() {
        while let job = next(closing: true) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next(closing: Bool) -> UnownedJob? {
        jobs.withLock { jobs in
            guard jobs.waiting.isEmpty else { return jobs.waiting.removeFirst() }
            jobs.isClosed = jobs.isClosed || closing
            return nil
        }
    }
}
