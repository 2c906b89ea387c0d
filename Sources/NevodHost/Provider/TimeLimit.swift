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
}
