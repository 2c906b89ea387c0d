package import NevodSupport

/// A task that waits for a value from another task. It is resumed once: by the value, an error, its cancellation or its deadline,
/// whichever comes first. Inlinable, because every request with a plugin waits with one in another module.
package final class Waiter<Value: Sendable>: Sendable {
    @usableFromInline
    enum State {
        case new
        /// Unsafe, because the state allows only one resumption.
        case suspended(UnsafeContinuation<Value, any Error>)
        case resumed(Result<Value, any Error>)
    }

    @usableFromInline let state: Locked<State>

    @inlinable
    package init() {
        state = Locked(State.new)
    }

    /// - Returns: false if the waiter had been resumed already; the result is then dropped.
    @inlinable @discardableResult
    package func resume(with result: Result<Value, any Error>) -> Bool {
        let (continuation, isFirst) = state.withLock { state -> (UnsafeContinuation<Value, any Error>?, Bool) in
            switch state {
            case .resumed: return (nil, false)
            case .new:
                state = .resumed(result)
                return (nil, true)
            case .suspended(let continuation):
                state = .resumed(result)
                return (continuation, true)
            }
        }
        continuation?.resume(with: result)
        return isFirst
    }

    /// Suspends until ``resume(with:)``. Called once.
    ///
    /// - Throws: the error it is resumed with; `CancellationError`; ``DeadlineExceededError`` at the deadline.
    @inlinable
    package func value(until deadline: ContinuousClock.Instant?) async throws -> Value {
        let timer = deadline.map { TimerQueue.shared.schedule(at: $0) { self.resume(with: .failure(DeadlineExceededError())) } }
        defer { if let timer { TimerQueue.shared.cancel(timer) } }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    if case .resumed(let result) = state { return result }
                    state = .suspended(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            resume(with: .failure(CancellationError()))
        }
    }
}
