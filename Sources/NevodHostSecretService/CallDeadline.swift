internal import NevodSupport

/// Cancels a call to the service when its time limit expires, even one that starts after that.
final class CallDeadline: Sendable {
    private struct State {
        var hasExpired = false
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var hasExpired: Bool { state.withLock(\.hasExpired) }

    func expire() {
        let cancel = state.withLock { state in
            state.hasExpired = true
            return state.cancel
        }
        cancel?()
    }

    /// - Parameter cancel: Called on expiry, on any thread; at once if the deadline has passed.
    func onExpiry(_ cancel: @escaping @Sendable () -> Void) {
        let hasExpired = state.withLock { state in
            state.cancel = cancel
            return state.hasExpired
        }
        if hasExpired { cancel() }
    }
}
