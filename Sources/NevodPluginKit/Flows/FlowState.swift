internal import NevodSupport
internal import _Concurrency

/// The state machine between a flow's function and the host. It performs nothing itself: its methods return an action, which the
/// caller performs outside the lock.
struct FlowState: Sendable {
    typealias Continuation = UnsafeContinuation<Result<FlowReply, SchemeError>, Never>

    private enum Phase {
        /// The function runs, or awaits something other than the flow.
        case running
        case asking(FlowAction, Continuation)
        /// The host performs the action.
        case waiting(Continuation)
        case finished(Result<IssuedToken, SchemeError>)
        /// The host has cancelled the flow.
        case closed
    }

    /// The state of a function that can't run further.
    enum Turn {
        case act(FlowAction)
        case finished(Result<IssuedToken, SchemeError>)
        case suspended
    }

    /// The outcome of a function's request.
    enum Asked {
        /// The function waits for the host.
        case waits
        case refused(SchemeError)
        /// The function has ignored every cancellation and is left suspended.
        case abandoned
    }

    /// The number of reminders to a function that ignores cancellation, before it is left suspended.
    private static let mostReminders = 100
    /// The number of unsupported actions in one step, after which the function is assumed to try forever.
    private static let mostTries = 100

    private var phase = Phase.running
    private var tries = 0
    /// The number of requests after the cancellation.
    private(set) var asksAfterClose = 0

    var unixNanoseconds: Int64 = 0
    var random: [UInt8] = []
    var token: IssuedToken?
    var parameters: [(name: String, value: String)] = []
    var account = ""
    var kept: [UInt8] = []
    var hasNewState = false

    mutating func ask(_ action: FlowAction, _ continuation: Continuation) -> Asked {
        switch phase {
        case .running:
            phase = .asking(action, continuation)
            return .waits
        case .asking, .waiting: return .refused(.internal("the flow requested two actions at once"))
        case .finished: return .refused(.internal("a task of the flow continued after the flow had finished"))
        case .closed:
            asksAfterClose += 1
            return asksAfterClose <= Self.mostReminders ? .refused(.cancelled) : .abandoned
        }
    }

    /// - Returns: the continuation of a task that the function left running, to be resumed with an error.
    mutating func finish(_ result: Result<IssuedToken, SchemeError>) -> Continuation? {
        switch phase {
        case .closed: return nil
        case .asking(_, let continuation), .waiting(let continuation):
            phase = .finished(result)
            return continuation
        case .running, .finished:
            phase = .finished(result)
            return nil
        }
    }

    /// Called after the function has run as far as it can.
    mutating func turn() -> Turn {
        switch phase {
        case .asking(let action, let continuation):
            phase = .waiting(continuation)
            return .act(action)
        case .finished(let result): return .finished(result)
        case .running, .waiting, .closed: return .suspended
        }
    }

    /// Called before the function continues with a reply.
    mutating func takeWaiting() -> Continuation? {
        guard case .waiting(let continuation) = phase else { return nil }
        phase = .running
        tries = 0
        return continuation
    }

    /// Called if the host doesn't support the action that the function waits for.
    ///
    /// - Returns: the continuation to be resumed with an error with ``SchemeError/isUnsupported`` set; the function may then
    ///   request another action in the same step. Nil if it has tried too many.
    mutating func takeUnsupported() -> Continuation? {
        guard case .waiting(let continuation) = phase, tries < Self.mostTries else { return nil }
        phase = .running
        tries += 1
        return continuation
    }

    /// - Returns: the continuation to be resumed with ``SchemeError/cancelled``.
    mutating func close() -> Continuation? {
        defer { phase = .closed }
        switch phase {
        case .asking(_, let continuation), .waiting(let continuation): return continuation
        case .running, .finished, .closed: return nil
        }
    }

    mutating func takeNewState() -> [UInt8]? {
        guard hasNewState else { return nil }
        hasNewState = false
        return kept
    }
}
