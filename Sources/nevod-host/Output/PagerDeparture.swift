import Glibc
import NevodSupport

/// Notices that a pager has ended while the command waits for a server that sends nothing: ends that wait, and gives Ctrl-C back to the
/// command.
final class PagerDeparture: Sendable {
    private struct State {
        var hasLeft = false
        /// The read in progress.
        var read: Task<[UInt8]?, any Error>?
    }

    private let state = Locked(State())

    /// Whether the pager has ended.
    var hasLeft: Bool { state.withLock(\.hasLeft) }

    /// Begins a read that the pager's end cancels.
    func begin(_ read: Task<[UInt8]?, any Error>) {
        let hasLeft = state.withLock { state in
            state.read = read
            return state.hasLeft
        }
        if hasLeft { read.cancel() }
    }

    func end() {
        state.withLock { $0.read = nil }
    }

    /// Waits for the process's end in a thread of its own. The process stays a zombie, for its owner to collect.
    func watch(_ process: pid_t) {
        SystemThread.start { [self] in
            var info = siginfo_t()
            while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) != 0 {
                // Without such a child, its owner has collected it.
                guard errno == EINTR else { return }
            }
            Interruption.shared.leaveInterruptsToPager(false)
            let read = state.withLock { state in
                state.hasLeft = true
                return state.read
            }
            read?.cancel()
        }
    }
}
