internal import NevodPluginABI
internal import NevodPluginTesting

/// The record of a flow from beginning to end.
struct FlowRun {
    enum Ending {
        case token(ContractToken?)
        /// The flow gave up, with this status.
        case status(Int32)
        /// A step returned NEVOD_OK without an action.
        case nothing
        /// It took more steps than a host allows.
        case endless
        /// It was abandoned after the requested number of steps.
        case abandoned
    }

    struct Step {
        let event: ContractEvent
        let outcome: ContractOutcome
    }

    let kind: Int
    var begun: ContractOutcome
    var steps: [Step] = []
    var ending: Ending

    /// All calls of the flow, beginning with `flow_begin`.
    var outcomes: [ContractOutcome] { [begun] + steps.map(\.outcome) }

    var token: ContractToken? { if case .token(let token) = ending { token } else { nil } }

    var name: String { Self.name(kind) }

    static func name(_ kind: Int) -> String {
        switch kind {
        case NEVOD_FLOW_LOGIN: "login"
        case NEVOD_FLOW_REFRESH: "refresh"
        case NEVOD_FLOW_CHALLENGE: "challenge"
        case NEVOD_FLOW_LOGOUT: "logout"
        default: "flow \(kind)"
        }
    }

    /// The reason why the flow ended, in words.
    var reason: String {
        switch ending {
        case .token: return "it issued a token"
        case .status(let status):
            let report = (steps.last?.outcome ?? begun).report
            let message = report.map { Shown.text($0.subject + ($0.subject.isEmpty ? [] : [0x20]) + $0.message) } ?? "no report"
            return "\(TestFailure.name(of: status)), \(message)"
        case .nothing: return "a step returned NEVOD_OK without an action"
        case .endless: return "it needed more than \(NEVOD_LIMIT_FLOW_STEPS) steps"
        case .abandoned: return "it was abandoned"
        }
    }
}

/// One flow in progress, driven step by step.
final class FlowDriver {
    let subject: Subject
    let kind: Int
    var server: PlausibleServer
    private var flow: ContractFlow?
    private(set) var run: FlowRun
    /// Changes the event of a step before the flow gets it. The first event has the index 0.
    var change: (_ index: Int, _ event: ContractEvent) -> ContractEvent = { $1 }
    private var next: ContractEvent?
    private var waits = 0

    init(
        _ subject: Subject, _ kind: Int, _ server: PlausibleServer, token: ContractToken? = nil,
        on instance: ContractInstance? = nil
    ) {
        self.subject = subject
        self.kind = kind
        self.server = server
        let instance = instance ?? subject.instance
        let (flow, begun) = subject.context.during(.flowBegin) { instance.begin(kind) }
        subject.note(begun)
        self.flow = flow
        run = FlowRun(kind: kind, begun: begun, ending: flow == nil ? .status(begun.result) : .abandoned)
        var start = ContractEvent.start(
            token: token, response: kind == NEVOD_FLOW_CHALLENGE ? PlausibleServer.challenge() : nil,
            parameters: subject.parameters)
        start.unixTime = PlausibleServer.now
        start.random = Array(0..<32)
        next = flow == nil ? nil : start
    }

    var isFinished: Bool { next == nil }

    /// Performs one step.
    func step() {
        guard let flow, let planned = next else { return }
        let event = change(run.steps.count, planned)
        let outcome = subject.context.during(.flowStep) { flow.step(event) }
        subject.note(outcome)
        run.steps.append(FlowRun.Step(event: event, outcome: outcome))
        next = following(outcome)
    }

    /// Performs a step with a given event. The flow is abandoned afterwards.
    func step(_ event: ContractEvent) -> ContractOutcome? {
        guard let flow else { return nil }
        let outcome = subject.context.during(.flowStep) { flow.step(event) }
        subject.note(outcome)
        run.steps.append(FlowRun.Step(event: event, outcome: outcome))
        return outcome
    }

    private func following(_ outcome: ContractOutcome) -> ContractEvent? {
        guard outcome.result == NEVOD_OK else { return finish(.status(outcome.result)) }
        guard let action = outcome.sinks.first(where: { $0.call.isAction && $0.result == NEVOD_OK })?.call else {
            return finish(.nothing)
        }
        if case .token(let token) = action { return finish(.token(token)) }
        if case .wait = action { waits += 1 }
        let limit = waits > Int(NEVOD_LIMIT_FLOW_WAITS) || run.steps.count - 2 * waits > Int(NEVOD_LIMIT_FLOW_STEPS)
        return limit ? finish(.endless) : server.event(after: action)
    }

    private func finish(_ ending: FlowRun.Ending) -> ContractEvent? {
        run.ending = ending
        return nil
    }

    func free() {
        guard flow != nil else { return }
        subject.context.during(.flowFree) { flow = nil }
        next = nil
    }

    /// Performs all steps, or at most `limit`, and frees the flow.
    func finished(after limit: Int = .max) -> FlowRun {
        while !isFinished, run.steps.count < limit { step() }
        free()
        return run
    }
}
