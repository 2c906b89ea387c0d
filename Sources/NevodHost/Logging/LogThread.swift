internal import NevodSupport

/// Runs the work of loggers one after another on a system thread. A logger that blocks, or the redaction of a large response,
/// delays only the requests that are logged.
///
/// The thread starts with the first job and ends when no job is left.
final class LogThread: TaskExecutor {
    /// One for the process, because there is one standard error and one connection to the system's log.
    static let shared = LogThread()

    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
    }

    private let state = Locked(State())
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// - Parameter startThread: returns whether a thread was started; for tests.
    init(startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { SystemThread.start($0) }) {
        self.startThread = startThread
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustStart = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard mustStart else { return }
        // The task that keeps this object alive may, once its job is passed on, end on another thread before this call returns.
        let hold = Unmanaged.passRetained(self)
        defer { hold.release() }
        guard !startThread({ self.drain { $0.runSynchronously(on: self.asUnownedTaskExecutor()) } }) else { return }
        // A task whose job is lost never ends, so Swift's own pool runs the jobs instead.
        drain { globalConcurrentExecutor.enqueue(ExecutorJob($0)) }
    }

    private func drain(_ body: (UnownedJob) -> Void) {
        while case let jobs = takeJobs(), !jobs.isEmpty {
            for job in jobs { body(job) }
        }
    }

    private func takeJobs() -> [UnownedJob] {
        state.withLock { state in
            if state.jobs.isEmpty { state.isRunning = false }
            defer { state.jobs = [] }
            return state.jobs
        }
    }
}
