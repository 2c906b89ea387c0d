internal import NevodSupport

/// Passes each end of a session to all that have registered.
final class SessionEndHandlers: Sendable {
    private struct State {
        var next = 0
        var handlers: [Int: @Sendable (SessionEnd) -> Void] = [:]
    }

    private let state = Locked(State())

    /// Ends with this object.
    final class Registration: Sendable {
        private let handlers: SessionEndHandlers
        private let number: Int

        fileprivate init(_ handlers: SessionEndHandlers, _ number: Int) {
            self.handlers = handlers
            self.number = number
        }

        deinit {
            handlers.state.withLock { _ = $0.handlers.removeValue(forKey: number) }
        }
    }

    func add(_ handler: @escaping @Sendable (SessionEnd) -> Void) -> Registration {
        let number = state.withLock { state in
            state.next += 1
            state.handlers[state.next] = handler
            return state.next
        }
        return Registration(self, number)
    }

    func report(_ end: SessionEnd) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler(end) }
    }
}
