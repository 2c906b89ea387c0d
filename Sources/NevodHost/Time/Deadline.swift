/// The deadline of one request with all its attempts and redirects: a limit on each attempt alone would let a server that
/// keeps failing or redirecting stretch the request without end.
struct Deadline {
    /// Nil if there is none.
    let instant: ContinuousClock.Instant?

    /// - Parameter timeout: from now; nil for no deadline.
    init(_ timeout: Duration?) {
        // A clock can't reach it.
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

    /// Whether a pause ends before the deadline.
    func allows(_ pause: Duration) -> Bool {
        instant.map { ContinuousClock.now + pause < $0 } ?? true
    }

    /// Cancels `body` at the deadline. For work that suspends and checks for cancellation.
    ///
    /// - Throws: what `body` throws; `DeadlineExceededError`.
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
