internal import NevodPluginABI

/// The result of a scheme's `on_response`.
public struct ResponseVerdict: Sendable, Equatable {
    /// The scheme's request to the host.
    public enum Kind: Sendable, Equatable {
        /// `NEVOD_VERDICT_NOTHING`.
        case nothing
        /// `NEVOD_VERDICT_STATE_CHANGED`.
        case stateChanged
        /// `NEVOD_VERDICT_RETRY_ONCE`.
        case retryOnce
        /// `NEVOD_VERDICT_CHALLENGE`.
        case challenge
        /// `NEVOD_VERDICT_REFUSE`.
        case refuse
    }

    /// The scheme's request to the host; an unknown verdict counts as nothing.
    public let kind: Kind
    /// The token that it keeps in place of the request's; nil if it keeps none.
    public let keptToken: TestToken?
    /// The report's subject and message: the reason of a refusal.
    public let reason: String

    init(_ outcome: ContractOutcome) throws(TestFailure) {
        kind =
            switch Int(outcome.result) {
            case NEVOD_VERDICT_STATE_CHANGED: .stateChanged
            case NEVOD_VERDICT_RETRY_ONCE: .retryOnce
            case NEVOD_VERDICT_CHALLENGE: .challenge
            case NEVOD_VERDICT_REFUSE: .refuse
            default: .nothing
            }
        var kept: TestToken?
        for action in outcome.actions {
            guard case .keep(let token?) = action else {
                throw TestFailure("it called \(action.function); it may call only set_state and keep", function: "on_response")
            }
            kept = TestToken(token)
        }
        keptToken = kept
        let report = outcome.report.map { [$0.subject, $0.message].map { String(decoding: $0, as: UTF8.self) } } ?? []
        reason = report.filter { !$0.isEmpty }.joined(separator: " ")
    }
}
