internal import CPluginCalls
internal import NevodStorage
internal import NevodSupport

/// Threads for the calls of schemes that may block, such as one that waits for a smart card. So a request whose scheme blocks
/// holds up no other request.
///
/// A thread starts when a call needs it, and ends when it has had nothing to do for a while. If all threads are busy, calls wait.
/// A call is not made if its request reaches its deadline first. A call that never returns keeps its thread. When all threads are
/// lost to such calls, requests of schemes that may block fail at their deadlines.
public final class SchemeWorkers: @unchecked Sendable {  // `bell` guards all mutable state.
    /// The threads that instances use by default.
    public static let shared = SchemeWorkers()

    /// The threads for schemes that don't say that they block, for calls that aren't made in a loop that another thread could
    /// take over. If such a call blocks nevertheless, it would otherwise hold a thread of Swift's pool, which has only one per
    /// processor.
    static let unannounced = SchemeWorkers()

    /// The maximum number of threads, and so of concurrent calls.
    public let threads: Int

    private struct Job {
        let number: UInt64
        let run: @Sendable () -> Void
        let fail: @Sendable () -> Void
    }

    private let idleMilliseconds: Int64
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let bell = nevod_bell_make()
    private var jobs: [Job] = []
    private var lastNumber: UInt64 = 0
    private var running = 0
    private var idle = 0

    /// - Parameter threads: the maximum number of threads, at least 1. A call that waits for a card or an agent occupies a
    ///   thread.
    public convenience init(threads: Int = 8) {
        self.init(threads: threads, idleMilliseconds: 10_000) { SystemThread.start($0) }
    }

    /// - Parameters:
    ///   - idleMilliseconds: the time after which a thread without work ends.
    ///   - startThread: returns whether a thread was started; for tests.
    init(
        threads: Int, idleMilliseconds: Int64, startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool
    ) {
        self.threads = max(1, threads)
        self.idleMilliseconds = idleMilliseconds
        self.startThread = startThread
    }

    deinit {
        // Each thread retains this object, so all threads have ended.
        nevod_bell_free(bell)
    }

    /// The system can't start a thread, and no other is running.
    struct NoThreadError: Error {}

    /// Runs `body` on one of the threads, and suspends until it returns. After the deadline, or if the caller is cancelled,
    /// `body` isn't started; if it has started, its result is dropped.
    ///
    /// - Throws: errors of `body`; `CancellationError`; `DeadlineExceededError`; ``NoThreadError``.
    func run<Success: Sendable>(
        until deadline: ContinuousClock.Instant?, _ body: @escaping @Sendable () throws -> Success
    ) async throws -> Success {
        let waiter = Waiter<Success>()
        let number = submit(
            run: { waiter.resume(with: Result(catching: body)) }, fail: { waiter.resume(with: .failure(NoThreadError())) })
        do { return try await waiter.value(until: deadline) } catch {
            withdraw(number)
            throw error
        }
    }

    /// The numbers of threads, and of jobs that wait for one.
    var load: (threads: Int, waiting: Int) { withLock { (running, jobs.count) } }

    private func submit(run: @escaping @Sendable () -> Void, fail: @escaping @Sendable () -> Void) -> UInt64 {
        let (number, mustStart) = withLock {
            lastNumber += 1
            jobs.append(Job(number: lastNumber, run: run, fail: fail))
            // An idle thread that was woken and has not taken its job yet counts as idle, and its job as waiting.
            let mustStart = jobs.count > idle && running < threads
            if mustStart { running += 1 }
            nevod_bell_ring(bell)
            return (lastNumber, mustStart)
        }
        if mustStart, !startThread({ self.work() }) {
            let stranded = withLock {
                running -= 1
                defer { if running == 0 { jobs = [] } }
                return running == 0 ? jobs : []
            }
            for job in stranded { job.fail() }
        }
        return number
    }

    /// Removes the job of a failed request, so that the job doesn't send or show anything later.
    private func withdraw(_ number: UInt64) {
        withLock { jobs.removeAll { $0.number == number } }
    }

    private func work() {
        while let job = next() { job.run() }
    }

    /// Returns nil if the thread must end.
    private func next() -> Job? {
        withLock {
            while jobs.isEmpty {
                idle += 1
                let isDue = nevod_bell_wait(bell, idleMilliseconds) == 0
                idle -= 1
                if isDue, jobs.isEmpty {
                    running -= 1
                    return nil
                }
            }
            return jobs.removeFirst()
        }
    }

    private func withLock<Result>(_ body: () -> Result) -> Result {
        nevod_bell_lock(bell)
        defer { nevod_bell_unlock(bell) }
        return body()
    }
}

extension SchemeInstance {
    /// Whether the scheme's calls run on the threads of `workers`.
    var mayBlock: Bool { scheme.called.mayBlock }

    /// Makes a call on a thread of `workers`, or of ``SchemeWorkers/unannounced`` if the scheme doesn't say that it blocks.
    /// The call must have no effect after the deadline: `body` may change only values of its own, and its result.
    ///
    /// - Parameters:
    ///   - function: the function that `body` calls.
    ///   - deadline: nil for none.
    /// - Throws: errors of `body`; ``PluginError/Reason/unreturned(scheme:function:)`` at the deadline; `CancellationError`.
    func onWorker<Success: Sendable>(
        _ function: StaticString, until deadline: ContinuousClock.Instant?,
        _ body: @escaping @Sendable () throws(PluginError) -> Success
    ) async throws -> Success {
        let threads = mayBlock ? workers : SchemeWorkers.unannounced
        do { return try await threads.run(until: deadline, body) } catch is DeadlineExceededError {
            throw PluginError(scheme.plugin, .unreturned(scheme: scheme.id, function: "\(function)"))
        } catch is SchemeWorkers.NoThreadError {
            throw PluginError(
                scheme.plugin, failed: .function("\(function)"), of: scheme.id, status: PluginStatus.unavailable.rawValue,
                message: "the system can't start a thread for it; raise the limit on threads (ulimit -u)")
        }
    }

    /// The error for a step of this scheme's flow that has not returned, whichever request needs the flow; nil if there is no
    /// such step.
    var unreturnedFlow: PluginError? {
        let call = CallInProgress.all.first {
            $0.library == scheme.plugin && $0.scheme == scheme.id && $0.function.hasPrefix("flow_")
        }
        return call.map { PluginError(scheme.plugin, .unreturned(scheme: scheme.id, function: $0.function)) }
    }

    /// Records the call that `body` makes in the request's work. The work ends at its deadline even if the call doesn't return.
    ///
    /// - Throws: errors of `body`; `CancellationError` if the request has ended in the meantime.
    func recording<Success>(
        _ function: StaticString, in work: RequestWork?, _ body: () async throws -> Success
    ) async throws -> Success {
        guard let work else { return try await body() }
        guard !work.isAbandoned else { throw CancellationError() }
        work.begin(scheme.called.names, PluginCall.name(function))
        let result: Success
        do { result = try await body() } catch is CancellationError where work.isOver {
            // The transport gave up waiting for the call. The call has not returned, so its record stays, for the request's
            // error.
            throw CancellationError()
        } catch {
            guard work.end() else { throw CancellationError() }
            throw error
        }
        guard work.end() else { throw CancellationError() }
        return result
    }
}
