internal import NevodSupport

/// Passes each status to any number of readers, the first one at once.
final class StatusObservers<User: Sendable>: Sendable {
    private struct State {
        var next = 0
        var continuations: [Int: AsyncStream<AuthStatus<User>>.Continuation] = [:]
    }

    private let state = Locked(State())

    deinit {
        for continuation in state.withLock({ $0.continuations }).values { continuation.finish() }
    }

    func add(_ status: AuthStatus<User>) -> AsyncStream<AuthStatus<User>> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AuthStatus<User>.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield(status)
        let id = state.withLock { state in
            state.next += 1
            state.continuations[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.continuations.removeValue(forKey: id) } }
        return stream
    }

    func yield(_ status: AuthStatus<User>) {
        for continuation in state.withLock({ $0.continuations }).values { continuation.yield(status) }
    }
}
