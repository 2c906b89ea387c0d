internal import NevodSupport

/// Runs a flow's function on the thread that calls ``drain()``, because a plugin has no thread of its own.
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
        // A cancelled function was resumed from outside. The queue is no longer drained, so the function ends on the global executor.
        if isClosed { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// Runs jobs until none is left.
    func drain() {
        while let job = next(closing: false) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs jobs until none is left, and closes the queue.
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
