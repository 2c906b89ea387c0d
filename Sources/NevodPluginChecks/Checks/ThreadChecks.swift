internal import CLinux
internal import NevodPluginABI
internal import NevodPluginTesting

// Runs eight threads at once, and compares their results with one thread's.

extension CheckCatalogue {
    private static let count = 8
    private static let lockFix = "Lock what instances and tokens share; or build with -fsanitize=thread, and run this check again"

    static let threadChecks: [Check] = allThreadChecks.map { check in
        switch check.id {
        case "threads.tokens": check.caused(by: "time.decode", "token.issued")
        case "threads.authorize": check.caused(by: "time.authorize", "authorize.same-twice", "authorize.no-token")
        case "threads.instances": check.caused(by: "time.authorize", "authorize.no-token", "threads.authorize")
        default: check.caused(by: "time.authorize", "time.flow")
        }
    }

    private static let allThreadChecks: [Check] = [
        .probing("threads.authorize", "authorize gives the same results on 8 threads as on one", patience: 2) { subject in
            let token = try subject.usableCredential()
            try subject.requireDeterminism(token)
            let instance = subject.instance
            let views = try (0..<16).map { try subject.view("GET", "https://api.example.com/orders/\($0)?page=\($0)") }
            let start = nevod_monotonic_nanoseconds()
            let alone = views.map { Signed(instance.authorize(token, $0)) }
            let rounds = Rounds.fitting(100, each: (nevod_monotonic_nanoseconds() - start) / Int64(views.count))
            let faults = Threads.run(count) { number -> String? in
                for round in 0..<rounds {
                    let index = (number + round) % views.count
                    let result = Signed(instance.authorize(token, views[index]))
                    if result != alone[index] { return alone[index].difference(from: result) }
                }
                return nil
            }
            guard let fault = faults.compactMap({ $0 }).first else { return .pass }
            return .fail("For each request, each of 8 threads gets the same edits as one thread", "\(fault)", lockFix)
        },
        .probing("threads.tokens", "Tokens can be decoded and freed on 8 threads at once", patience: 2) { subject in
            guard subject.instance.decodesTokens else { return .skip("the scheme decodes no tokens") }
            let bytes = try subject.issuedToken().bytes
            let instance = subject.instance
            let results = Threads.run(count) { _ in (0..<100).allSatisfy { _ in instance.decode(bytes).1.result == NEVOD_OK } }
            guard results.contains(false) else { return .pass }
            return .fail("Each thread decodes the same bytes", "token_decode refused bytes that it had accepted before", lockFix)
        },
        .probing("threads.instances", "Instances can be created and destroyed on 8 threads at once", patience: 2) { subject in
            let host = subject.host
            let settings = subject.settings
            let view = try subject.view()
            let results = Threads.run(count) { _ in
                (0..<50).allSatisfy { _ in
                    guard let instance = host.create(settings).0 else { return false }
                    _ = instance.needs()
                    _ = instance.authorize(.none, view)
                    instance.destroy()
                    return true
                }
            }
            guard results.contains(false) else { return .pass }
            return .fail(
                "Each thread creates instances with the same settings", "create refused settings that it had accepted before",
                lockFix)
        },
        .probing("threads.flows", "Flows of one instance run on 8 threads at once", patience: 3) { subject in
            guard subject.instance.hasFlows else { return .skip("the scheme has no flows") }
            let alone = try subject.issuedToken()
            let style = subject.serverStyle()
            let context = subject.context
            let instance = subject.instance
            let parameters = subject.parameters
            let logins = Threads.run(count) { _ in
                (0..<10).map { _ in ConcurrentLogin.run(instance, style, parameters) }
            }
            _ = context
            for login in logins.joined() {
                let happened: String
                switch login {
                case .token(let token) where token.account == alone.account: continue
                case .token: happened = "One issued a token of another account"
                case .none(let report): happened = "One issued no token: \(report)"
                }
                return .fail("Each login on 8 threads issues a token, as one login alone does", happened, lockFix)
            }
            return .pass
        },
        .probing("threads.changing", "The steps of a flow can run on changing threads", patience: 2) { subject in
            guard subject.instance.hasFlows else { return .skip("the scheme has no flows") }
            let alone = try subject.issuedToken()
            let style = subject.serverStyle()
            let instance = subject.instance
            let parameters = subject.parameters
            let login = ConcurrentLogin.run(instance, style, parameters, onChangingThreads: true)
            guard case .token(let token) = login, token.account == alone.account else {
                return .fail(
                    "A login issues the same token if its steps run on different threads",
                    "It issued no token, or another one",
                    "Keep a flow's data in the flow, and nothing in thread-local variables")
            }
            return .pass
        },
    ]
}

/// A login that doesn't use a ``Subject``, because a subject belongs to one thread.
private enum ConcurrentLogin {
    case token(ContractToken)
    /// No token, with the reason that the plugin reported.
    case none(String)

    static func run(
        _ instance: ContractInstance, _ style: PlausibleServer.Style, _ parameters: [ContractPair],
        onChangingThreads: Bool = false
    ) -> ConcurrentLogin {
        let (begun, beginning) = instance.begin(Int(NEVOD_FLOW_LOGIN))
        guard let flow = begun else { return .none(report(of: beginning)) }
        var server = PlausibleServer(style)
        var event = ContractEvent.start(parameters: parameters)
        event.unixTime = PlausibleServer.now
        event.random = Array(0..<32)
        for _ in 0..<Int(NEVOD_LIMIT_FLOW_STEPS) {
            let next = event
            let outcome = onChangingThreads ? Threads.run(1) { _ in flow.step(next) }.first : flow.step(next)
            guard let outcome else { return .none("no thread could be started") }
            guard outcome.result == NEVOD_OK, let action = outcome.actions.first else { return .none(report(of: outcome)) }
            if case .token(let token) = action { return token.map { .token($0) } ?? .none("it passed no token") }
            guard let following = server.event(after: action) else {
                return .none("it made a request that no server responds to")
            }
            event = following
        }
        return .none("it took more than \(NEVOD_LIMIT_FLOW_STEPS) steps")
    }

    private static func report(of outcome: ContractOutcome) -> String {
        outcome.report.map { Shown.text($0.message) } ?? "no report"
    }
}
