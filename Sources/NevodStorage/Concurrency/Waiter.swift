internal import NevodSupport

/// A task that waits for a value from another task. It is resumed once: by the value, an error, its cancellation or its deadline,
/// whichever comes first.
package final class Waiter<Value: Sendable>: Sendable {
    private enum State {
        case new
        case suspended(CheckedContinuation<Value, any Error>)
        case resumed(Result<Value, any Error>)
    }

    private let state = Locked(State.new)

    package init() {}

    /// - Returns: false if the waiter was already resumed; the result is then dropped.
    @discardableResult
    package func resume(with result: Result<Value, any Error>) -> Bool {
        let (continuation, isFirst) = state.withLock { state -> (CheckedContinuation<Value, any Error>?, Bool) in
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
    package func value(until deadline: ContinuousClock.Instant?) async throws -> Value {
        let timer = deadline.map { TimerQueue.shared.schedule(at: $0) { self.resume(with: .failure(DeadlineExceededError())) } }
        defer { if let timer { TimerQueue.shared.cancel(timer) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
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

/// A deadline passed before the awaited value arrived.
package struct DeadlineExceededError: Error, Sendable, Hashable, CustomStringConvertible {
    package init() {}

    package var description: String { "the deadline has passed" }
}
