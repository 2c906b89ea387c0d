internal import COpenSSL
internal import NevodPluginABI
internal import NevodSupport

/// The purpose of a flow.
enum FlowKind: Int32, Sendable {
    case login = 1
    case refresh, challenge, logout

    var name: String {
        switch self {
        case .login: "login"
        case .refresh: "refresh"
        case .challenge: "challenge"
        case .logout: "logout"
        }
    }
}

/// Owns a flow that a plugin has begun, and frees it.
final class Flow: @unchecked Sendable {  // The contract allows changing threads; one task uses it, step by step.
    private let instance: SchemeInstance
    private let kind: FlowKind
    private let handle: UnsafeMutableRawPointer?
    /// Locked, because a step that returns after its deadline writes to it too.
    private let lacking = Locked<[UnsupportedAction]>([])

    /// Begins a flow, on a worker's thread.
    ///
    /// - Returns: nil if the scheme has no flow of this kind.
    /// - Throws: ``PluginError``, including at the deadline; `CancellationError`.
    static func begin(
        _ kind: FlowKind, of instance: SchemeInstance, until deadline: ContinuousClock.Instant
    ) async throws -> Flow? {
        return try await instance.onWorker("flow_begin", until: deadline) { () throws(PluginError) in
            try Flow(kind, of: instance)
        }
    }

    /// Returns nil if the scheme has no flow of this kind.
    init?(_ kind: FlowKind, of instance: SchemeInstance) throws(PluginError) {
        guard let begin = instance.scheme.table.pointee.flow_begin else { return nil }
        var handle: UnsafeMutableRawPointer?
        var errors = ErrorSink()
        let status = PluginCall.run("flow_begin", instance.services, errors: &errors) {
            begin(instance.handle, kind.rawValue, &handle, $0.errors)
        }
        if status == NEVOD_UNSUPPORTED { return nil }
        guard status == NEVOD_OK else { throw errors.error(status, in: .flowBegin(kind.name), of: instance.scheme) }
        self.instance = instance
        self.kind = kind
        self.handle = handle
    }

    deinit {
        PluginCall.run("flow_free", instance.services) { _ in
            instance.scheme.table.pointee.flow_free?(instance.handle, handle)
        }
    }

    /// Makes the flow's next step on a worker's thread. A step that hasn't returned at the deadline runs on, and its action and
    /// state are dropped.
    ///
    /// - Throws: ``PluginError``, including at the deadline; `CancellationError`.
    func step(
        _ event: FlowEvent, now: UnixTime, state: Secret?, until deadline: ContinuousClock.Instant,
        supports: @escaping @Sendable (UserAction) -> Bool = { _ in true }
    ) async throws -> (FlowAction, state: Secret?) {
        try await instance.onWorker("flow_step", until: deadline) { () throws(PluginError) in
            try self.step(event, now: now, state: state, supports: supports)
        }
    }

    /// Passes an event to the flow and returns its next action.
    ///
    /// - Parameters:
    ///   - state: the state of the flow's origin.
    ///   - supports: whether an action that needs a person can be performed. Called while the plugin's function runs.
    /// - Returns: the action; and the new state, if the flow sets one.
    func step(
        _ event: FlowEvent, now: UnixTime, state: Secret?, supports: @escaping @Sendable (UserAction) -> Bool = { _ in true }
    ) throws(PluginError) -> (FlowAction, state: Secret?) {
        var random = [UInt8](repeating: 0, count: 32)
        RAND_bytes(&random, Int32(random.count))
        let lent = BorrowedBytes()
        var table = event.table(now: now, random: random, state: state, lent)
        var actions = ActionSink(provenance: instance.provenance, supports: supports)
        var errors = ErrorSink()
        let status = PluginCall.run("flow_step", instance.services, errors: &errors, actions: &actions) { sinks in
            instance.scheme.table.pointee.flow_step?(instance.handle, handle, &table, sinks.actions, sinks.errors)
                ?? Int32(NEVOD_UNSUPPORTED)
        }
        withExtendedLifetime(lent) {}
        lacking.withLock { $0 = actions.unsupported }
        if let problem = actions.problem { throw fault(problem) }
        guard status == NEVOD_OK else { throw failure(status, errors) }
        guard let action = actions.action else { throw unanswered() ?? fault("it returned no action") }
        return (action, actions.state)
    }

    /// Returns the error for a status. If the step tried an unsupported action, the error names this action, unless the status is
    /// a verdict on the token, the login or the settings.
    private func failure(_ status: Int32, _ errors: ErrorSink) -> PluginError {
        let error = errors.error(status, in: .flowStep(kind.name), of: instance.scheme)
        switch PluginStatus(rawValue: status) {
        case .badToken, .denied, .badSettings: return error
        default: return unanswered() ?? error
        }
    }

    /// The actions of the latest step that the host can't perform.
    var unsupported: [UnsupportedAction] { lacking.withLock(\.self) }

    private func unanswered() -> PluginError? {
        let unsupported = unsupported
        return unsupported.isEmpty ? nil : instance.unanswered(unsupported.flatMap(\.wanted))
    }

    func fault(_ problem: String) -> PluginError {
        PluginError(instance.scheme.plugin, .flowFault(scheme: instance.scheme.id, flow: kind.name, problem: problem))
    }
}

extension SchemeInstance {
    func unanswered(_ questions: [String]) -> PluginError {
        PluginError(scheme.plugin, .unanswered(scheme: scheme.id, questions: questions))
    }
}
