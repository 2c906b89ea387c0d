internal import CLinux
internal import Glibc
internal import NevodPluginABI
internal import NevodPluginTesting

extension CheckCatalogue {
    /// The rules of `authorize`.
    static let authorizeChecks: [Check] = [
        .probing("authorize.same-twice", "authorize gives the same result for the same request") { subject in
            let token = try subject.usableCredential()
            guard subject.flags & UInt32(NEVOD_SCHEME_NONDETERMINISTIC) == 0 else {
                throw CheckStop.skip("the scheme declares NEVOD_SCHEME_NONDETERMINISTIC")
            }
            for (name, view) in try subject.plainViews() {
                let first = Signed(subject.authorize(token, view))
                for _ in 0..<3 {
                    let again = Signed(subject.authorize(token, view))
                    if again != first { return differs("The edits for \(name) are the same each time", first, again) }
                }
            }
            return .pass
        },
        .probing("authorize.same-instances", "Two instances with the same settings authorize alike") { subject in
            let token = try subject.usableCredential()
            try subject.requireDeterminism(token)
            let other = try subject.another()
            let otherToken = subject.credential(on: other)
            for (name, view) in try subject.plainViews() {
                let first = Signed(subject.authorize(token, view))
                let second = Signed(subject.authorize(otherToken, view, on: other))
                if first != second {
                    return differs("The edits for \(name) depend only on settings, token and request", first, second)
                }
            }
            return .pass
        },
        .probing("authorize.same-later", "authorize takes the time only from the request") { subject in
            let token = try subject.usableCredential()
            try subject.requireDeterminism(token)
            let view = try subject.view()
            let first = Signed(subject.authorize(token, view))
            // Waits until the next second, because most time formats count whole seconds.
            let second = nevod_nanoseconds(CLOCK_REALTIME) / 1_000_000_000
            while nevod_nanoseconds(CLOCK_REALTIME) / 1_000_000_000 == second { usleep(20_000) }
            // `time` reads a clock that lags a little.
            usleep(50_000)
            let later = Signed(subject.authorize(token, view))
            if first == later { return .pass }
            return .fail(
                "The same view gives the same edits a second later", first.difference(from: later),
                "Take the time from view->unix_time_ns, which is corrected for the server's clock")
        },
        .probing("authorize.needs", "authorize uses only what the scheme's needs name") { subject in
            let token = try subject.usableCredential()
            try subject.requireDeterminism(token)
            let plain = try subject.view("POST", headers: [Subject.contentType], body: .bytes(Subject.body))
            let first = Signed(subject.authorize(token, plain))
            for (what, view) in undeclared(subject.needs, plain) {
                let other = Signed(subject.authorize(token, view))
                if first != other {
                    return .fail(
                        "authorize ignores \(what), which its needs don't name", first.difference(from: other),
                        "Name it in needs; a host leaves out everything else")
                }
            }
            return .pass
        }.caused(by: "lifecycle.needs"),
        .probing("authorize.edits", "authorize makes only edits that a host accepts") { subject in
            let token = try subject.usableCredential()
            for (name, view) in try subject.plainViews() {
                guard let problem = EditRules.problem(subject.authorize(token, view), view, subject.needs) else { continue }
                return .fail(
                    "A host accepts the edits for \(name)", problem, "See nevod_edits for what a host refuses")
            }
            return .pass
        },
        .probing("authorize.proxy", "authorize writes Proxy-Authorization for a proxy, and nothing else") { subject in
            let token = try subject.usableCredential()
            let arePlainOnesLegal = try subject.plainViews().allSatisfy { plain in
                EditRules.problem(subject.authorize(token, plain.view), plain.view, subject.needs) == nil
            }
            guard arePlainOnesLegal else { throw CheckStop.skip("authorize.edits fails") }
            for (name, url) in [("a request through a proxy", "http://api.example.com/a"), ("a tunnel", Subject.url)] {
                var request = try subject.request("GET", url)
                request.isForProxy = true
                let view = subject.view(request)
                let outcome = subject.authorize(token, view)
                if outcome.result == NEVOD_OK, let problem = EditRules.problem(outcome, view, subject.needs) {
                    return .fail(
                        "For \(name), authorize sets Proxy-Authorization or returns NEVOD_UNSUPPORTED", problem,
                        "Look at view->target_kind first")
                }
            }
            return .pass
        },
        .probing("authorize.unknown-target", "authorize refuses a target of an unknown kind") { subject in
            let token = try subject.usableCredential()
            var view = try subject.view()
            return try unsupported(
                "a target of an unknown kind", "Return NEVOD_UNSUPPORTED unless view->target_kind is a known one",
                ([77, -1] as [Int32]).map { kind in
                    view.targetKind = kind
                    return subject.authorize(token, view)
                })
        },
        .probing("authorize.unknown-body", "authorize refuses a body of an unknown kind") { subject in
            let token = try subject.usableCredential()
            let isSeen =
                subject.needs.has(NEVOD_NEED_BODY) || !subject.needs.digests.isEmpty || subject.needs.has(NEVOD_NEED_REPLACE_BODY)
            guard isSeen else { throw CheckStop.skip("the scheme doesn't look at bodies") }
            var view = try subject.view("POST")
            view.bodyLength = 24
            return try unsupported(
                "a body of an unknown kind", "Return NEVOD_UNSUPPORTED unless view->body_kind is a known one",
                ([77, -1] as [Int32]).map { kind in
                    view.bodyKind = kind
                    return subject.authorize(token, view)
                })
        },
        .probing("authorize.no-token", "authorize refuses a request for which there is no token yet") { subject in
            guard subject.instance.hasFlows else { throw CheckStop.skip("the scheme has no flows, so it gets no token") }
            let outcome = subject.authorize(.none, try subject.view())
            guard outcome.result != NEVOD_OK, outcome.result != NEVOD_BAD_TOKEN, Status.isKnown(outcome.result) else {
                return .pass
            }
            return .warn(
                "Without a token, authorize returns NEVOD_BAD_TOKEN, after which the host obtains one",
                "It returned \(TestFailure.name(of: outcome.result))", "Return NEVOD_BAD_TOKEN if token is NULL")
        },
        .probing("authorize.statuses", "authorize fails with a status of the contract") { subject in
            let outcome = subject.authorize(try subject.usableCredential(), try subject.unknownTarget())
            guard !Status.isKnown(outcome.result) else { return .pass }
            return .fail(
                "A request that can't be authorized gets a NEVOD_… status", "authorize returned \(outcome.result)",
                "Return NEVOD_UNSUPPORTED, NEVOD_BAD_TOKEN or another status of the header")
        },
        .probing("authorize.reasons", "authorize reports once why it fails") { subject in
            let outcome = subject.authorize(try subject.usableCredential(), try subject.unknownTarget())
            guard outcome.result != NEVOD_OK else { throw CheckStop.skip("authorize refuses nothing that was tried") }
            return reasons(outcome, "authorize")
        },
        .probing("authorize.read-only", "authorize writes to nothing that it is given") { subject in
            try calls(subject, .readOnly)
        },
        .probing("authorize.bounds", "authorize reads nothing beyond what it is given") { subject in
            _ = try calls(subject, .bounds(.end))
            return try calls(subject, .bounds(.start))
        },
        .probing("authorize.borrowed", "authorize keeps no pointer into what it is given") { subject in
            try calls(subject, .borrowed)
        },
        Check("create.borrowed", "create keeps no pointer into the settings", scope: .scheme) { context in
            let subject = try Subject(context)
            let (made, outcome) = subject.memory.guarded(.borrowed) {
                context.during(.create) { subject.host.create(subject.settings) }
            }
            guard let made else {
                throw CheckStop.skip("a second instance can't be created: \(TestFailure.name(of: outcome.result))")
            }
            _ = context.during(.needs) { made.needs() }
            let token = subject.credential(on: made)
            _ = subject.authorize(token, try subject.view(), on: made)
            return .pass
        },
        .probing("authorize.kept-sinks", "authorize uses its sinks only during the call") { subject in
            let token = try subject.usableCredential()
            for _ in 0..<4 { for (_, view) in try subject.plainViews() { _ = subject.authorize(token, view) } }
            guard let kept = subject.host.keptSinkCalls.first(where: { $0.of == "authorize" }) else { return .pass }
            return .fail(
                "A sink is used in the call that it was passed to, on its thread",
                "\(kept.function) of a call of \(kept.of) was used later or on another thread",
                "Don't keep edits, actions or errors")
        },
        .probing("authorize.failing-edits", "authorize survives each edit being refused") { subject in
            let token = try subject.usableCredential()
            for (name, view) in try subject.plainViews() {
                let count = subject.authorize(token, view).sinks.count
                for failing in 0...count {
                    // The last round refuses every edit.
                    subject.host.replaceResults { call, index in
                        call.hasStatus && (index == failing || failing == count) ? Int32(NEVOD_UNSUPPORTED) : nil
                    }
                    let outcome = subject.authorize(token, view)
                    subject.host.replaceResults(nil)
                    if !Status.isKnown(outcome.result) {
                        return .fail(
                            "authorize returns a NEVOD_… status when an edit for \(name) is refused",
                            "It returned \(outcome.result)",
                            "Ignore the results of edits: the host fails the call itself")
                    }
                }
            }
            return .pass
        },
        Check("authorize.grown-structs", "authorize works with a later host, whose structs are longer", scope: .scheme) {
            context in
            let plain = try Subject(context)
            _ = try plain.usableCredential()
            let issued = plain.issued
            var shapes: [ContractStruct: StructShape] = [:]
            for kind in ContractStruct.allCases { shapes[kind] = .grown(kind) }
            let later: Subject
            do { later = try Subject(context, shapes: shapes) } catch CheckStop.needsSettings(let reason) {
                return .fail("create works with a later host, whose structs are longer", reason, sizes)
            }
            for (name, view) in try later.plainViews() {
                let outcome = later.authorize(later.credential(issued), view)
                let before = plain.authorize(plain.credential(issued), view)
                if before.result == NEVOD_OK, outcome.result != NEVOD_OK {
                    let report = outcome.report.map { Shown.text($0.message) } ?? "no report"
                    return .fail(
                        "authorize of \(name) works with a later host, whose structs are longer",
                        "It returned \(TestFailure.name(of: outcome.result)), \(report)", sizes)
                }
            }
            return .pass
        },
        Check("authorize.empty-pointers", "authorize reads no bytes of an empty input", scope: .scheme) { context in
            // An unmapped address.
            let subject = try Subject(context, pointerOfEmpty: 0x10)
            let token = try subject.usableCredential()
            for (_, view) in try subject.plainViews() { _ = subject.authorize(token, view) }
            return .pass
        },
        .probing("authorize.stack", "authorize needs no more stack than the contract promises") { subject in
            let token = try subject.usableCredential()
            let views = try subject.plainViews()
            let ran = SmallStack.run { for (_, view) in views { _ = subject.authorize(token, view) } }
            guard ran else { throw CheckStop.skip("the system can't create a thread") }
            return .pass
        },
    ]

    private static let sizes = "Compare struct_size by NEVOD_HAS or with NEVOD_…_MINIMUM, never for equality"

    private static func differs(_ expected: String, _ first: Signed, _ second: Signed) -> CheckResult {
        .fail(
            expected, first.difference(from: second),
            "Take randomness and the time from the view, or declare NEVOD_SCHEME_NONDETERMINISTIC if the algorithm draws a number"
        )
    }

    private static func unsupported(_ what: String, _ fix: String, _ outcomes: [ContractOutcome]) throws -> CheckResult {
        for outcome in outcomes {
            if outcome.result == NEVOD_OK {
                return .fail("authorize returns NEVOD_UNSUPPORTED for \(what)", "It returned NEVOD_OK", fix)
            }
            if outcome.result != NEVOD_UNSUPPORTED, Status.isKnown(outcome.result) {
                return .warn(
                    "authorize returns NEVOD_UNSUPPORTED for \(what)", "It returned \(TestFailure.name(of: outcome.result))", fix)
            }
        }
        return .pass
    }

    /// The report of a call that fails.
    static func reasons(_ outcome: ContractOutcome, _ function: String) -> CheckResult {
        let reports = outcome.calls.compactMap { call -> (subject: [UInt8], message: [UInt8])? in
            if case .report(let subject, let message, _) = call { (subject, message) } else { nil }
        }
        let expected = "\(function) reports one reason before it returns \(TestFailure.name(of: outcome.result))"
        guard let first = reports.first else {
            return .warn(expected, "It reported nothing", "Call errors->report with a message that says how to fix it")
        }
        if reports.count > 1 {
            return .fail(expected, "It reported \(reports.count) times", "Report the cause once; only the first report counts")
        }
        for text in [first.subject, first.message] where String(validating: text, as: UTF8.self) == nil {
            return .fail(expected, "The report isn't UTF-8", "Report texts of your own, not bytes of the request")
        }
        if first.message.isEmpty { return .warn(expected, "The message is empty", "Say what is wrong and how to fix it") }
        if first.message.count > Int(NEVOD_LIMIT_MESSAGE) {
            return .warn(
                expected, "The message has \(first.message.count) bytes; a host cuts it", "Put long texts into the detail")
        }
        return .pass
    }

    /// Several calls with inputs in separate pages.
    private static func calls(_ subject: Subject, _ mode: SwitchedMemory.Guard) throws -> CheckResult {
        let token = try subject.usableCredential()
        let views = try subject.plainViews()
        subject.memory.guarded(mode) {
            for _ in 0..<3 { for (_, view) in views { _ = subject.authorize(token, view) } }
        }
        return .pass
    }

    /// Views with parts that the needs don't name.
    private static func undeclared(_ needs: ContractNeeds, _ plain: ContractView) -> [(what: String, view: ContractView)] {
        var views: [(String, ContractView)] = []
        func add(_ what: String, _ change: (inout ContractView) -> Void) {
            var view = plain
            change(&view)
            views.append((what, view))
        }
        if !needs.has(NEVOD_NEED_RANDOM) { add("random") { $0.random = Array(32..<64) } }
        if !needs.has(NEVOD_NEED_STATE) { add("state") { $0.state = Array("nonce-of-another".utf8) } }
        if !needs.has(NEVOD_NEED_USE_COUNT) { add("use_count") { $0.useCount = 7 } }
        if !needs.has(NEVOD_NEED_BODY) { add("body") { $0.body = Subject.body } }
        if !needs.has(NEVOD_NEED_HEADERS) {
            add("headers") { $0.headers = [ContractPair("Host", "api.example.com"), ContractPair("X-A", "1")] }
        }
        for name in ["sha-256", "sha-384", "sha-512"].map({ Array($0.utf8) }) where !needs.digests.contains(name) {
            add("the digest \(Shown.text(name))") { $0.digests += ContractRequest.digests([name], of: Subject.body) }
        }
        return views
    }
}
