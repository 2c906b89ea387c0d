internal import NevodSupport

/// One task that waits for a value which another one hands over: resumed once, by a value, an error, its own cancellation or
/// the end of its time, whichever comes first.
package final class Waiter<Value: Sendable>: Sendable {
    private enum State {
        case new
        case suspended(CheckedContinuation<Value, any Error>)
        case resumed(Result<Value, any Error>)
    }

    private let state = Locked(State.new)

    package init() {}

    /// - Returns: whether it was still waiting. If not, the value is for somebody else.
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
    /// - Throws: what it is resumed with; `CancellationError`; ``NetworkError/timeout(_:)`` at the deadline.
    package func value(until deadline: ContinuousClock.Instant?) async throws -> Value {
        let alarm = deadline.map { Alarms.shared.set(at: $0) { self.resume(with: .failure(NetworkError.timeout(.outOfTime))) } }
        defer { if let alarm { Alarms.shared.cancel(alarm) } }
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

extension TransportError {
    /// Of a request that waited, retried or was redirected for too long.
    static let outOfTime = TransportError(.timedOut, "its attempts and redirects took all of it", curlCode: 28)
}
