internal import NevodSupport

/// What a flow asks the host to do.
enum FlowAction: Sendable {
    case send(FlowRequest)
    case ask([FlowQuestion])
    case show(String, url: String)
    case listen(String)
    case browse(String)
    case wait(Duration)
    case keep(IssuedToken)
}

/// What came of it.
enum FlowReply: Sendable {
    case response(FlowResponse)
    case answers([String: Secret])
    case url(String)
    case done
}

/// Whose turn it is between a flow's function and the host. Decides and does nothing: what it returns is done outside the lock.
struct FlowState: Sendable {
    typealias Continuation = UnsafeContinuation<FlowReply, any Error>

    private enum Phase {
        /// The function runs, or awaits what isn't ours.
        case running
        case asking(FlowAction, Continuation)
        /// The host has been told.
        case waiting(Continuation)
        case finished(Result<IssuedToken, any Error>)
        /// The host has given it up: it gets nothing more.
        case closed
    }

    /// Where a drained function stands.
    enum Turn {
        case act(FlowAction)
        case finished(Result<IssuedToken, any Error>)
        case suspended
    }

    /// What becomes of a function that asks.
    enum Asked {
        /// It waits for the host.
        case waits
        case refused(any Error)
        /// It has swallowed every cancellation, and would for ever.
        case abandoned
    }

    /// How often a function that swallows every cancellation is told again before it is left where it waits.
    private static let mostReminders = 100

    private var phase = Phase.running
    /// After the function was given up.
    private(set) var asksAfterClose = 0

    var unixNanoseconds: Int64 = 0
    var random: [UInt8] = []
    var token: IssuedToken?
    var kept: [UInt8] = []
    var hasNewState = false

    mutating func ask(_ action: FlowAction, _ continuation: Continuation) -> Asked {
        switch phase {
        case .running:
            phase = .asking(action, continuation)
            return .waits
        case .asking, .waiting: return .refused(SchemeError.internal("the flow asks for two things at a time"))
        case .finished: return .refused(SchemeError.internal("something of the flow goes on after its end"))
        case .closed:
            asksAfterClose += 1
            return asksAfterClose <= Self.mostReminders ? .refused(CancellationError()) : .abandoned
        }
    }

    /// - Returns: what a task that the function left behind waits for, in vain.
    mutating func finish(_ result: Result<IssuedToken, any Error>) -> Continuation? {
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

    /// After the function has run as far as it could.
    mutating func turn() -> Turn {
        switch phase {
        case .asking(let action, let continuation):
            phase = .waiting(continuation)
            return .act(action)
        case .finished(let result): return .finished(result)
        case .running, .waiting, .closed: return .suspended
        }
    }

    /// Before the function runs again.
    mutating func answered() -> Continuation? {
        guard case .waiting(let continuation) = phase else { return nil }
        phase = .running
        return continuation
    }

    /// - Returns: what has to be resumed with a `CancellationError`.
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
