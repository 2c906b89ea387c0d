internal import NevodSupport

/// The readers of a stream of changes.
package final class Observers<Value: Sendable>: Sendable {
    private struct State {
        var next = 0
        var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
        var endings: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())

    package init() {}

    deinit {
        let (continuations, endings) = state.withLock { ($0.continuations.values, $0.endings.values) }
        for continuation in continuations { continuation.finish() }
        for ending in endings { ending() }
    }

    /// A reader that is slow gets the latest value.
    package func add() -> (AsyncStream<Value>, id: Int) {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.next += 1
            state.continuations[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return (stream, id)
    }

    package func onTermination(of id: Int, _ body: @escaping @Sendable () -> Void) {
        let isGone = state.withLock { state in
            guard state.continuations[id] != nil else { return true }
            state.endings[id] = body
            return false
        }
        if isGone { body() }
    }

    package func yield(_ value: Value) {
        for continuation in state.withLock({ $0.continuations }).values { continuation.yield(value) }
    }

    private func remove(_ id: Int) {
        let ending = state.withLock { state in
            state.continuations[id] = nil
            return state.endings.removeValue(forKey: id)
        }
        ending?()
    }
}
