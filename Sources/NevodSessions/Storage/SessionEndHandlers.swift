internal import NevodSupport

/// Passes each end of a session to all that have registered, and the sessions that others begin.
final class SessionEndHandlers: Sendable {
    struct Handler: Sendable {
        let end: @Sendable (SessionEnd) -> Void
        let begin: @Sendable (SessionIdentifier) -> Void
    }

    private struct State {
        var next = 0
        var handlers: [Int: Handler] = [:]
        /// Reads the storage when another process has changed it, as long as there are handlers.
        var reading: Task<Void, Never>?
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
            let reading = handlers.state.withLock { state -> Task<Void, Never>? in
                state.handlers[number] = nil
                guard state.handlers.isEmpty else { return nil }
                defer { state.reading = nil }
                return state.reading
            }
            reading?.cancel()
        }
    }

    deinit {
        state.withLock { $0.reading }?.cancel()
    }

    /// - Parameter read: begins to read the storage whenever it reports a change; called for the first handler.
    func add(
        _ handler: Handler, reading read: @Sendable () -> Task<Void, Never>?
    ) -> Registration {
        let number = state.withLock { state in
            state.next += 1
            state.handlers[state.next] = handler
            if state.reading == nil { state.reading = read() }
            return state.next
        }
        return Registration(self, number)
    }

    func report(_ end: SessionEnd) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler.end(end) }
    }

    func report(_ begun: SessionIdentifier) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler.begin(begun) }
    }
}
