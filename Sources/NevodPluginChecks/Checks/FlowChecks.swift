internal import NevodPluginABI
internal import NevodPluginTesting

extension CheckCatalogue {
    /// The rules of flows.
    static let flowChecks: [Check] = [
        flow("flow.login", "A login at a generic server reaches a token") { subject in
            let run = subject.login()
            if case .status(Int32(NEVOD_UNSUPPORTED)) = run?.ending, run?.steps.isEmpty == true {
                throw CheckStop.skip("the scheme has no login flow")
            }
            if let run, run.token == nil { throw CheckStop.skip("the login ended: \(run.reason)") }
            return .noted("\(run?.steps.count ?? 0) steps")
        },
        flow("flow.kinds", "A flow of an unknown kind is unsupported") { subject in
            for kind in [0, 77, -1] {
                let (flow, outcome) = subject.context.during(.flowBegin) { subject.instance.begin(kind) }
                subject.note(outcome)
                guard flow != nil || outcome.result != NEVOD_UNSUPPORTED else { continue }
                return .fail(
                    "flow_begin returns NEVOD_UNSUPPORTED for the kind \(kind)",
                    "It returned \(TestFailure.name(of: outcome.result))",
                    "Compare the kind with the known ones")
            }
            return .pass
        },
        flow("flow.unused", "A flow can be freed before its first step") { subject in
            for kind in kinds {
                for _ in 0..<3 { FlowDriver(subject, kind, PlausibleServer(.json)).free() }
            }
            return .pass
        },
        flow("flow.one-action", "Each step makes one action, or gives up") { subject in
            for run in try runs(subject) {
                for (index, step) in run.steps.enumerated() {
                    let actions = step.outcome.sinks.filter { $0.call.isAction && $0.result == NEVOD_OK }
                    let expected = "Each step of a \(run.name) makes one action and returns NEVOD_OK, or returns another status"
                    if step.outcome.result == NEVOD_OK, actions.count != 1 {
                        let made = actions.isEmpty ? "no action" : actions.map { $0.call.function }.joined(separator: ", then ")
                        return .fail(expected, "Step \(index + 1) made \(made)", "Return from flow_step after one action")
                    }
                    if step.outcome.result != NEVOD_OK, !actions.isEmpty {
                        return .warn(
                            expected,
                            "Step \(index + 1) made \(actions[0].call.function), and returned \(TestFailure.name(of: step.outcome.result))",
                            "Return the status of the action")
                    }
                }
                if case .endless = run.ending { return .fail("A \(run.name) ends", run.reason, "Give up after some attempts") }
            }
            return .pass
        },
        flow("flow.requests", "A host accepts the requests of a flow") { subject in
            for run in try runs(subject) {
                for case .send(let request) in run.outcomes.flatMap(\.calls) {
                    guard let problem = FlowRules.problem(request) else { continue }
                    return .fail("A host accepts the requests of a \(run.name)", problem, "See nevod_flow_request")
                }
            }
            return .pass
        },
        flow("flow.questions", "A host can show the questions and texts of a flow") { subject in
            for run in try runs(subject) {
                for call in run.outcomes.flatMap(\.calls) {
                    guard let problem = FlowRules.problem(call) else { continue }
                    return .fail(
                        "A host accepts the questions and texts of a \(run.name)", problem, "See nevod_question and nevod_listen")
                }
            }
            return .pass
        },
        flow("flow.token", "A host accepts an issued token") { subject in
            for run in try runs(subject) where run.kind != Int(NEVOD_FLOW_LOGOUT) {
                for call in run.outcomes.flatMap(\.calls) {
                    let token: ContractToken?
                    switch call {
                    case .token(let issued), .keep(let issued): token = issued
                    default: continue
                    }
                    guard let problem = TokenRules.problem(token, isLogout: false) else { continue }
                    return .fail(
                        "A \(run.name) issues a token that a host stores", "It issued a token that \(problem)", "See nevod_token")
                }
            }
            return .pass
        },
        flow("flow.logout", "A logout finishes without a token") { subject in
            guard let issued = subject.issued else { throw CheckStop.skip("a login at a generic server reaches no token") }
            let run = FlowDriver(subject, Int(NEVOD_FLOW_LOGOUT), PlausibleServer(subject.serverStyle()), token: issued)
                .finished()
            guard case .token(let token) = run.ending else {
                throw CheckStop.skip(run.steps.isEmpty ? "the scheme has no logout flow" : "the logout ended: \(run.reason)")
            }
            guard let problem = TokenRules.problem(token, isLogout: true) else { return .pass }
            return .fail(
                "A logout calls actions->token with a token of zero bytes", "It passed a token that \(problem)",
                "Pass an empty token")
        },
        flow("flow.no-token", "A refresh and a logout survive a missing token") { subject in
            for kind in [Int(NEVOD_FLOW_REFRESH), Int(NEVOD_FLOW_LOGOUT), Int(NEVOD_FLOW_CHALLENGE)] {
                _ = FlowDriver(subject, kind, PlausibleServer(.json)).finished()
            }
            return .pass
        },
        flow("flow.statuses", "A flow gives up with a status of the contract") { subject in
            for run in try refusedRuns(subject) {
                guard case .status(let status) = run.ending, !Status.isKnown(status) else { continue }
                return .fail(
                    "A \(run.name) that the server refuses ends with a NEVOD_… status", "It ended with \(status)",
                    "NEVOD_DENIED clears the token, NEVOD_UNAVAILABLE keeps it")
            }
            return .pass
        },
        flow("flow.reasons", "A flow reports once why it gives up") { subject in
            for run in try refusedRuns(subject) {
                guard case .status(let status) = run.ending, Status.isKnown(status), let last = run.steps.last else { continue }
                let result = reasons(last.outcome, "flow_step")
                if result != .pass { return result }
            }
            return .pass
        },
        flow("flow.interleaved", "Two flows of an instance don't disturb each other") { subject in
            let style = subject.serverStyle()
            func driver(_ label: String) -> FlowDriver {
                FlowDriver(subject, Int(NEVOD_FLOW_LOGIN), PlausibleServer(style, label: label))
            }
            let serial = ["A", "B"].map { driver($0).finished() }
            guard let first = serial[0].token, let second = serial[1].token else {
                throw CheckStop.skip("a login at a generic server reaches no token: \(serial[0].reason)")
            }
            guard driver("A").finished().token == first else { throw CheckStop.skip("two logins give different tokens") }
            let (one, other) = (driver("A"), driver("B"))
            for _ in 0..<1000 where !(one.isFinished && other.isFinished) {
                one.step()
                other.step()
            }
            one.free()
            other.free()
            guard one.run.token == first, other.run.token == second else {
                return .fail(
                    "Two logins whose steps alternate issue the same tokens as two logins one after the other",
                    "The first login ended: \(one.run.reason); the second: \(other.run.reason)",
                    "Keep a flow's state in the object that flow_begin returns, not in the instance or a static variable")
            }
            return .pass
        },
        flow("flow.bounds", "flow_step reads nothing beyond what it is given") { subject in
            let (style, token) = (subject.serverStyle(), subject.issued)
            for edge in [GuardedMemory.Edge.end, .start] {
                for kind in startedKinds(subject) {
                    let driver = FlowDriver(subject, kind, PlausibleServer(style), token: token)
                    _ = subject.memory.guarded(.bounds(edge)) { driver.finished() }
                }
            }
            return .pass
        },
        flow("flow.borrowed", "A flow keeps no pointer into its events") { subject in
            let (style, token) = (subject.serverStyle(), subject.issued)
            for kind in startedKinds(subject) {
                let driver = FlowDriver(subject, kind, PlausibleServer(style), token: token)
                _ = subject.memory.guarded(.borrowed) { driver.finished() }
            }
            return .pass
        },
        flow("flow.kept-sinks", "A flow uses its sinks only during the step") { subject in
            for _ in 0..<2 { _ = try runs(subject) }
            guard let kept = subject.host.keptSinkCalls.first(where: { $0.of.hasPrefix("flow") }) else { return .pass }
            return .fail(
                "A sink is used in the call that it was passed to, on its thread",
                "\(kept.function) of a call of \(kept.of) was used later or on another thread", "Don't keep actions or errors")
        },
        flow("flow.abandoned-memory", "An abandoned flow leaves nothing allocated") { subject in
            let style = subject.serverStyle()
            subject.isNoting = false
            func rounds(_ steps: Int) -> Int {
                Heap.growth(rounds: 100) {
                    _ = FlowDriver(subject, Int(NEVOD_FLOW_LOGIN), PlausibleServer(style)).finished(after: steps)
                }
            }
            let all = FlowDriver(subject, Int(NEVOD_FLOW_LOGIN), PlausibleServer(style)).finished()
            if rounds(.max) > Heap.tolerance {
                throw CheckStop.skip("a finished flow leaves memory too; resources.flows explains it")
            }
            for steps in 1..<max(2, min(all.steps.count, 6)) {
                let growth = rounds(steps)
                guard growth > Heap.tolerance else { continue }
                return .fail(
                    "After flow_free, nothing of a flow remains allocated",
                    "The heap grew by \(growth) bytes for each flow that was freed after \(steps) steps",
                    "Free everything that the steps keep in flow_free")
            }
            return .pass
        }.caused(by: "lifecycle.mid-flow"),
        Check("flow.grown-structs", "Flows work with a later host, whose structs are longer", scope: .scheme) { context in
            let plain = try Subject(context)
            guard plain.instance.hasFlows else { throw CheckStop.skip("the scheme has no flows") }
            let before = try plain.issuedToken()
            var shapes: [ContractStruct: StructShape] = [:]
            for kind in ContractStruct.allCases { shapes[kind] = .grown(kind) }
            let later: Subject
            do { later = try Subject(context, shapes: shapes) } catch {
                throw CheckStop.skip("authorize.grown-structs explains it")
            }
            guard later.issued == nil, !before.bytes.isEmpty else { return .pass }
            return .fail(
                "A login works with a later host, whose structs are longer", later.login()?.reason ?? "It has no flows",
                "Compare struct_size by NEVOD_HAS or with NEVOD_…_MINIMUM, never for equality")
        },
    ]

    /// The kinds of flows that a host starts. Only a login begins without a token, or a challenge if the scheme has no login.
    static func startedKinds(_ subject: Subject) -> [Int] {
        if subject.issued != nil { return kinds }
        let hasLogin = subject.login().map { $0.begun.result == NEVOD_OK } ?? false
        return hasLogin ? [Int(NEVOD_FLOW_LOGIN)] : [Int(NEVOD_FLOW_CHALLENGE)]
    }

    static let kinds = [Int(NEVOD_FLOW_LOGIN), Int(NEVOD_FLOW_REFRESH), Int(NEVOD_FLOW_LOGOUT), Int(NEVOD_FLOW_CHALLENGE)]

    static func flow(_ id: String, _ title: String, _ run: @escaping @Sendable (Subject) throws -> CheckResult) -> Check {
        .probing(id, title) { subject in
            guard subject.instance.hasFlows else { throw CheckStop.skip("the scheme has no flows") }
            return try run(subject)
        }
    }

    /// Flows of each kind in which all goes well. Flows that need a token are left out if there is none.
    static func runs(_ subject: Subject) throws -> [FlowRun] {
        let style = subject.serverStyle()
        let token = subject.issued
        return startedKinds(subject).map { kind in
            FlowDriver(subject, kind, PlausibleServer(style), token: token).finished()
        }
    }

    /// Flows with a server that refuses their requests.
    private static func refusedRuns(_ subject: Subject) throws -> [FlowRun] {
        let style = subject.serverStyle()
        let token = subject.issued
        return startedKinds(subject).map { kind in
            let driver = FlowDriver(subject, kind, PlausibleServer(style), token: token)
            driver.change = { _, event in
                var event = event
                guard event.kind == NEVOD_EVENT_RESPONSE, let url = event.response?.url else { return event }
                event.response = ContractResponse(
                    403, headers: [ContractPair("Content-Type", "application/json")],
                    body: Array(#"{"error":"access_denied","error_description":"no"}"#.utf8), url: url)
                return event
            }
            return driver.finished()
        }
    }
}
