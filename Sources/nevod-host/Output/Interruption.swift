import CLinux
import Glibc
import NevodSupport

/// Undoes unfinished work when a signal ends the process: a terminal without echo, a partial file, a login in progress.
///
/// The signals are blocked in every thread, and the main thread waits for them. So undoing runs as ordinary code, not in a signal
/// handler.
final class Interruption: Sendable {
    typealias Undo = @Sendable () -> Void
    typealias Exit = @Sendable () -> Never

    static let shared = Interruption()
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private struct State {
        /// The key names the action to undo.
        var undos: [String: Undo] = [:]
        /// Undoes what lasts until the command ends.
        var lastingUndo: Undo?
        /// The longest wait for cancelled work, in seconds. Most work ends within milliseconds.
        var gracePeriod = 2
        var cancel: Undo?
        /// The signal that ends the process as soon as the cancelled work has finished.
        var signal: Int32?
        /// Ends the process as soon as the cancelled work has finished; set when the time limit is reached.
        var exit: Exit?
        /// Whether a pager runs, which then receives Ctrl-C.
        var isPaging = false
        /// Whether work that must not be lost is in progress. It gets at most the grace period.
        var isRescuing = false

        func undoAll() {
            for undo in undos.values { undo() }
            lastingUndo?()
        }
    }

    private let state = Locked(State())

    /// Performs an action and registers how to undo it, in one step.
    ///
    /// - Parameter name: tells concurrent actions apart; made from the action's result.
    func begin<Result>(named name: (Result) -> String = { _ in "" }, _ action: () -> (Result, Undo?)) -> Result {
        state.withLock { state in
            let (result, made) = action()
            state.undos[name(result)] = made
            return result
        }
    }

    func end(_ name: String = "") {
        state.withLock { $0.undos[name] = nil }
    }

    /// Like ``begin(named:_:)``, for something that lasts until the command ends, beside other actions.
    func beginLasting<Result, Failure: Error>(_ action: () throws(Failure) -> (Result, Undo)) throws(Failure) -> Result {
        try state.withLock { state throws(Failure) in
            let (result, made) = try action()
            state.lastingUndo = made
            return result
        }
    }

    func endLasting() {
        state.withLock { $0.lastingUndo = nil }
    }

    /// Runs work that a signal cancels. The work may still finish before the process ends.
    ///
    /// - Parameter gracePeriod: the longest wait for cancelled work, in seconds. A second signal ends the wait.
    func cancelling<Success: Sendable>(
        on executor: (any TaskExecutor)?, gracePeriod: Int = 2, _ work: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        let task = Task(executorPreference: executor, operation: work)
        state.withLock { state in
            state.cancel = { task.cancel() }
            state.gracePeriod = gracePeriod
        }
        let result = await task.result
        let (signal, exit) = state.withLock { state in
            state.cancel = nil
            return (state.signal, state.exit)
        }
        if let signal { terminate(by: signal) }
        exit?()
        return try result.get()
    }

    /// Runs work that must not be lost when the process ends. The process waits for it, for at most the grace period.
    func rescuing<Success: Sendable>(_ work: () async -> Success) async -> Success {
        state.withLock { $0.isRescuing = true }
        let result = await work()
        state.withLock { $0.isRescuing = false }
        return result
    }

    /// Undoes unfinished work, cancels the rest, and ends the process, but not by a signal. Cancelled work gets two seconds; work
    /// that must not be lost gets its grace period. Blocks this thread.
    func expire(_ exit: @escaping Exit) -> Never {
        let (cancel, gracePeriod) = state.withLock { state in
            state.undoAll()
            state.exit = exit
            return (state.cancel, state.gracePeriod)
        }
        guard let cancel else { exit() }
        cancel()
        let start = ContinuousClock.now
        while case let elapsed = ContinuousClock.now - start,
            elapsed < .seconds(2) || isRescuing && elapsed < .seconds(gracePeriod)
        {
            usleep(20_000)
        }
        state.withLock { $0.undoAll() }
        exit()
    }

    /// Leaves Ctrl-C to the pager, which belongs to the same job of the terminal and ends only by its own command.
    func leaveInterruptsToPager(_ isPaging: Bool) {
        state.withLock { $0.isPaging = isPaging }
    }

    private var isRescuing: Bool { state.withLock(\.isRescuing) }

    /// Blocks the signals. Call before other threads start: they inherit the mask.
    func block() {
        var set = Self.set
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for a signal, undoes unfinished work, and ends the process by that signal, so that a shell sees it.
    func waitForSignal() -> Never {
        var set = Self.set
        var signal: Int32 = 0
        repeat {
            while sigwait(&set, &signal) != 0 {}
        } while signal == SIGINT && state.withLock(\.isPaging)
        undoAndCancel(signal)
        // A second signal ends the wait.
        var gracePeriod = timespec(tv_sec: state.withLock(\.gracePeriod), tv_nsec: 0)
        sigtimedwait(&set, nil, &gracePeriod)
        state.withLock { state in
            state.undoAll()
            raiseDefault(signal)
        }
        _exit(128 + signal)
    }

    /// Returns only if cancelled work may still finish.
    private func undoAndCancel(_ signal: Int32) {
        let cancel = state.withLock { state -> Undo? in
            state.undoAll()
            if state.cancel == nil { raiseDefault(signal) }
            state.signal = signal
            return state.cancel
        }
        cancel?()
    }

    private func terminate(by signal: Int32) -> Never {
        raiseDefault(signal)
        _exit(128 + signal)
    }

    private func raiseDefault(_ signal: Int32) {
        var set = Self.set
        Glibc.signal(signal, SIG_DFL)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(signal)
    }

    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}
