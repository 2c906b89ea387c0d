public import Foundation
public import NevodHost

extension NevodNamed where Self == RetryPolicy {
    /// The maximum wait before the second attempt, in seconds.
    @_disfavoredOverload  // Without a type from the context, the property is the duration.
    public var baseDelay: TimeInterval {
        self.NevodHost::baseDelay / .seconds(1)
    }

    /// The maximum wait before any attempt, in seconds.
    @_disfavoredOverload
    public var maxDelay: TimeInterval {
        self.NevodHost::maxDelay / .seconds(1)
    }
}

extension RetryPolicy {
    /// The wait after an attempt, in seconds: a random one, from zero to the maximum, if the policy has jitter.
    ///
    /// - Parameter attempt: the number of the failed attempt, from 0, as Nevod counts. A negative one counts as 0.
    public func delay(for attempt: Int) -> TimeInterval {
        let longest = delay(after: max(0, min(attempt, 1_000_000)) + 1) / .seconds(1)
        return jitter ? .random(in: 0...max(0, longest)) : longest
    }

    /// Whether the number of attempts allows another one.
    ///
    /// - Parameter attempt: the number of the failed attempt, from 0, as Nevod counts.
    public func shouldRetry(attempt: Int) -> Bool {
        attempt < max(1, maxAttempts) - 1
    }

    /// Waits for `delay(for:)`. Throws `CancellationError` if the task is cancelled meanwhile.
    public func performDelay(for attempt: Int) async throws {
        try await Task.sleep(for: .seconds(min(delay(for: attempt), 1e9)))
    }
}
