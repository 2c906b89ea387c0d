/// The time that a request has, with all its attempts and redirects: a server that drips them would stretch it without end.
struct TimeLimit {
    /// Nil: no limit.
    let deadline: ContinuousClock.Instant?

    init(_ timeout: Duration?) {
        // What no clock can reach is no limit.
        deadline = timeout.flatMap { $0 < .seconds(Int32.max) ? ContinuousClock.now + $0 : nil }
    }

    /// Nil: no limit.
    var remaining: Duration? {
        get throws(TransportError) {
            guard let deadline else { return nil }
            let rest = deadline - ContinuousClock.now
            guard rest > .zero else { throw .outOfTime }
            return rest
        }
    }

    func outlasts(_ pause: Duration) -> Bool {
        deadline.map { ContinuousClock.now + pause < $0 } ?? true
    }

    /// Ends work that suspends, and heeds cancellation, with the limit.
    func bounding(_ body: @escaping @Sendable () async throws -> Void) async throws {
        guard let deadline else { return try await body() }
        try await withThrowingTaskGroup { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(until: deadline, clock: .continuous)
                throw NetworkError.timeout(.outOfTime)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
