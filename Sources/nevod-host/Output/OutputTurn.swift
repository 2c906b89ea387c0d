import NevodHost
import NevodSupport

/// A request's turn to write to standard output, so that the bodies of concurrent requests don't mix.
final class OutputTurn: Sendable {
    private struct State {
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let previous: OutputTurn?
    private let state = Locked(State())

    /// - Parameter previous: the turn before this one; nil for a turn that waits for nothing.
    init(after previous: OutputTurn?) {
        self.previous = previous
    }

    /// Waits until all turns before this one have ended.
    func wait() async {
        await previous?.waitForEnd()
    }

    /// Ends this turn, even if its request wrote nothing.
    func end() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func waitForEnd() async {
        await previous?.waitForEnd()
        await withCheckedContinuation { waiter in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiters.append(waiter) }
                return state.hasEnded
            }
            if hasEnded { waiter.resume() }
        }
    }
}
