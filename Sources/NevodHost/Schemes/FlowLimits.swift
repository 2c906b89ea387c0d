internal import NevodPluginABI

/// The limits of a flow; the host ends a flow that exceeds one.
struct FlowLimits: Sendable {
    /// The number of steps. Waits, and the steps that follow them, don't count.
    var steps = Int(NEVOD_LIMIT_FLOW_STEPS)
    var waits = Int(NEVOD_LIMIT_FLOW_WAITS)
    /// The size of all responses together, in bytes.
    var bytes = Int(NEVOD_LIMIT_FLOW_BYTES)
    /// The time from start to end, including the time spent waiting, even for people.
    var duration: Duration = .seconds(Int(NEVOD_LIMIT_FLOW_SECONDS))
    /// The longest that one call of `flow_begin` or `flow_step` may take: a renewal that doesn't return keeps all requests
    /// waiting.
    var call: Duration = .seconds(Int(NEVOD_LIMIT_FLOW_CALL_SECONDS))
}

/// Counts the steps and waits of a flow: a state machine without I/O.
struct FlowCount: Sendable {
    private let limits: FlowLimits
    private var steps = 0
    private var waits = 0

    init(_ limits: FlowLimits) {
        self.limits = limits
    }

    /// Counts a step by the event that it got and the action that it returned.
    ///
    /// - Returns: the exceeded limit, as words for a message; nil if there is none.
    mutating func add(_ action: FlowAction, after event: FlowEvent) -> String? {
        if case .wait = action {
            waits += 1
            return waits > limits.waits ? "it waited more than \(limits.waits) times" : nil
        }
        // A step after a wait doesn't count, so that a poll costs only the wait: its response leads to the next wait.
        if case .timer = event { return nil }
        steps += 1
        return steps > limits.steps ? "it took more than \(limits.steps) steps" : nil
    }
}
