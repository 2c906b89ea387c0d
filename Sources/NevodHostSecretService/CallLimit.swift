internal import NevodSupport

/// Ends a call to the service when its time is over, also one that has not begun by then.
final class CallLimit: Sendable {
    private struct State {
        var isOver = false
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var isOver: Bool { state.withLock(\.isOver) }

    func pass() {
        let cancel = state.withLock { state in
            state.isOver = true
            return state.cancel
        }
        cancel?()
    }

    /// - Parameter cancel: called when the time is over, at once if it is already; on any thread.
    func onPass(_ cancel: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            state.cancel = cancel
            return state.isOver
        }
        if isOver { cancel() }
    }
}
