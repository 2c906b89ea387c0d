/// The deadline of a request, across all attempts and redirects. If only each attempt had a limit, a server that keeps failing or
/// redirecting could prolong the request forever.
struct Deadline {
    /// Nil if there is no deadline.
    let instant: ContinuousClock.Instant?

    /// - Parameter timeout: the time from now; nil for no deadline.
    init(_ timeout: Duration?) {
        // Longer timeouts mean no deadline: adding them could overflow the clock's instant.
        instant = timeout.flatMap { $0 < .seconds(Int32.max) ? ContinuousClock.now + $0 : nil }
    }

    /// The time left; nil if there is no deadline.
    var remaining: Duration? {
        get throws(DeadlineExceededError) {
            guard let instant else { return nil }
            let rest = instant - ContinuousClock.now
            guard rest > .zero else { throw DeadlineExceededError() }
            return rest
        }
    }

    /// Whether a pause that starts now ends before the deadline.
    func allows(_ pause: Duration) -> Bool {
        instant.map { ContinuousClock.now + pause < $0 } ?? true
    }

    /// Runs `body`, and cancels it at the deadline. `body` must respond to cancellation.
    ///
    /// - Throws: errors of `body`; `DeadlineExceededError`.
    func bounding(_ body: @escaping @Sendable () async throws -> Void) async throws {
        guard let instant else { return try await body() }
        try await withThrowingTaskGroup { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(until: instant, clock: .continuous)
                throw DeadlineExceededError()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

extension Duration {
    /// Clamps to the range from zero to 10⁹ seconds, about 30 years. NaN becomes zero.
    package init(boundedSeconds seconds: Double) {
        self = seconds > 0 ? .seconds(min(seconds, 1e9)) : .zero
    }

    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
