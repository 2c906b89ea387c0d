import Glibc
import NevodSupport

/// What has to be undone when a signal ends the process: a terminal without echo, a half-written file.
///
/// The signals are blocked in every thread and waited for by the main one, so that undoing is ordinary code and not a signal
/// handler's.
final class Interruption: Sendable {
    typealias Undo = @Sendable () -> Void

    static let shared = Interruption()
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private let undo = Locked<Undo?>(nil)

    /// Does something and notes how to undo it, in one step. One thing at a time: the terminal is asked before a file is made.
    func begin<Result>(_ action: () -> (Result, Undo?)) -> Result {
        undo.withLock { undo in
            let (result, made) = action()
            undo = made
            return result
        }
    }

    func end() {
        undo.withLock { $0 = nil }
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
        undo.withLock { undo in
            undo?()
            Glibc.signal(signal, SIG_DFL)
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            raise(signal)
        }
        _exit(128 + signal)
    }

    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}
