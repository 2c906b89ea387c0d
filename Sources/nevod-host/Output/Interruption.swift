import Glibc
import NevodSupport

/// What has to be undone when a signal ends the process: a terminal without echo, a half-written file, a login that a server
/// has begun.
///
/// The signals are blocked in every thread and waited for by the main one, so that undoing is ordinary code and not a signal
/// handler's.
final class Interruption: Sendable {
    typealias Undo = @Sendable () -> Void

    static let shared = Interruption()
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private struct State {
        var undo: Undo?
        /// What is cancelled ends within milliseconds; what doesn't may not keep anybody waiting. In seconds.
        var patience = 2
        var cancel: Undo?
        /// That the process dies of as soon as what was cancelled has ended.
        var signal: Int32?
    }

    private let state = Locked(State())

    /// Does something and notes how to undo it, in one step. One thing at a time: the terminal is asked before a file is made.
    func begin<Result>(_ action: () -> (Result, Undo?)) -> Result {
        state.withLock { state in
            let (result, made) = action()
            state.undo = made
            return result
        }
    }

    func end() {
        state.withLock { $0.undo = nil }
    }

    /// Work that a signal cancels, and that ends in its own way before the process dies.
    ///
    /// - Parameter patience: how long it may take for that, in seconds, unless there is a second signal.
    func cancelling<Success: Sendable>(
        on executor: (any TaskExecutor)?, patience: Int = 2, _ work: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        let task = Task(executorPreference: executor, operation: work)
        state.withLock { state in
            state.cancel = { task.cancel() }
            state.patience = patience
        }
        let result = await task.result
        let signal = state.withLock { state in
            state.cancel = nil
            return state.signal
        }
        if let signal { die(of: signal) }
        return try result.get()
    }

    /// Call before any other thread begins: they inherit the mask.
    func block() {
        var set = Self.set
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for a signal, undoes, and dies of it, so that a shell sees what happened.
    func waitAndDie() -> Never {
        var set = Self.set
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
        undoAndCancel(signal)
        // A second signal ends it at once.
        var patience = timespec(tv_sec: state.withLock(\.patience), tv_nsec: 0)
        sigtimedwait(&set, nil, &patience)
        state.withLock { state in
            state.undo?()
            raiseDeadly(signal)
        }
        _exit(128 + signal)
    }

    /// Returns if there is something to wait for.
    private func undoAndCancel(_ signal: Int32) {
        let cancel = state.withLock { state -> Undo? in
            state.undo?()
            if state.cancel == nil { raiseDeadly(signal) }
            state.signal = signal
            return state.cancel
        }
        cancel?()
    }

    private func die(of signal: Int32) -> Never {
        raiseDeadly(signal)
        _exit(128 + signal)
    }

    private func raiseDeadly(_ signal: Int32) {
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
