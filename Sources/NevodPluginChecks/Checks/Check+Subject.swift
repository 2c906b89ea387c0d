internal import NevodPluginABI
internal import NevodPluginTesting

extension Check {
    /// A check of a scheme with an instance.
    static func probing(
        _ id: String, _ title: String, patience: Int = 1, _ run: @escaping @Sendable (Subject) throws -> CheckResult
    ) -> Check {
        Check(id, title, scope: .scheme, patience: patience) { context in try run(try Subject(context)) }
    }
}

extension CheckResult {
    static func fail(_ expected: String, _ happened: String, _ fix: String) -> CheckResult {
        .fail(Finding(expected: expected, happened: happened, fix: fix))
    }

    static func warn(_ expected: String, _ happened: String, _ fix: String) -> CheckResult {
        .warn(Finding(expected: expected, happened: happened, fix: fix))
    }
}

extension Subject {
    /// A request that each scheme refuses.
    func unknownTarget() throws -> ContractView {
        var view = try view()
        view.targetKind = 77
        return view
    }

    /// Whether the results for plain requests are legal. If they aren't, other checks say so, and odd requests add nothing.
    private func isLegal(_ token: ContractInstance.TokenArgument) throws -> (edits: Bool, statuses: Bool) {
        let edits = try plainViews().allSatisfy { EditRules.problem(authorize(token, $0.view), $0.view, needs) == nil }
        return (edits, Status.isKnown(authorize(token, try unknownTarget()).result))
    }

    /// Authorizes odd requests: each may be refused, but only by the rules.
    func authorizeAll(_ cases: [(name: String, view: ContractView)]) throws -> CheckResult {
        let token = try usableCredential()
        let (hasLegalEdits, hasLegalStatuses) = try isLegal(token)
        for (name, view) in cases {
            let outcome = authorize(token, view)
            if hasLegalStatuses, !Status.isKnown(outcome.result) {
                return .fail(
                    "authorize returns a NEVOD_… status for \(name)", "It returned \(outcome.result)",
                    "Return NEVOD_UNSUPPORTED for a request that can't be authorized")
            }
            if hasLegalEdits, outcome.result == NEVOD_OK, let problem = EditRules.problem(outcome, view, needs) {
                return .fail(
                    "The edits for \(name) are ones that a host accepts", problem,
                    "Encode what comes from the request, or return NEVOD_UNSUPPORTED")
            }
        }
        return .pass
    }
}
