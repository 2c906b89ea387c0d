internal import NevodSupport

/// Passes each new value to any number of readers. (``StorageObservers``, in contrast, keep every changed key for each reader.)
package final class ValueObservers<Value: Sendable>: Sendable {
    private struct State {
        var next = 0
        var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
        var terminations: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())

    package init() {}

    deinit {
        let (continuations, terminations) = state.withLock { ($0.continuations.values, $0.terminations.values) }
        for continuation in continuations { continuation.finish() }
        for termination in terminations { termination() }
    }

    /// Adds a reader.
    ///
    /// - Parameter limit: the number of latest values to keep for a slow reader.
    package func add(keeping limit: Int = 1) -> (AsyncStream<Value>, id: Int) {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(limit))
        let id = state.withLock { state in
            state.next += 1
            state.continuations[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return (stream, id)
    }

    /// Calls the body when the reader stops reading, or at once if it already has.
    package func onTermination(of id: Int, _ body: @escaping @Sendable () -> Void) {
        let isRemoved = state.withLock { state in
            guard state.continuations[id] != nil else { return true }
            state.terminations[id] = body
            return false
        }
        if isRemoved { body() }
    }

    package func yield(_ value: Value) {
        for continuation in state.withLock({ $0.continuations }).values { continuation.yield(value) }
    }

    private func remove(_ id: Int) {
        let termination = state.withLock { state in
            state.continuations[id] = nil
            return state.terminations.removeValue(forKey: id)
        }
        termination?()
    }
}
