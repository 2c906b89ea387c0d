internal import NevodPluginABI
internal import NevodPluginTesting

/// A checked scheme, with one instance of it.
final class Subject {
    let context: CheckContext
    let host: ContractHost
    let memory = SwitchedMemory()
    let values: SettingValues
    let settings: [ContractPair]
    let instance: ContractInstance
    let needs: ContractNeeds
    /// The parameters that a host passes if the caller gives none.
    let parameters: [ContractPair]
    let declaredParameters: [SettingValues.Declaration]
    /// All calls so far, while ``isNoting``.
    private(set) var noted: [ContractOutcome] = []
    var isNoting = true
    private var knownLogin: FlowRun?

    /// - Parameters:
    ///   - shapes: the sizes of the host's structs that differ from this version's.
    ///   - pointerOfEmpty: the address of empty texts; NULL if nil.
    ///   - settingsSeed: the seed for generated values of settings; the run's seed if nil.
    init(
        _ context: CheckContext, shapes: [ContractStruct: StructShape] = [:], pointerOfEmpty: UInt? = nil,
        settingsSeed: UInt64? = nil
    ) throws {
        self.context = context
        let scheme = try context.scheme()
        var options = ContractHost.Options()
        options.memory = memory
        options.observer = context.calls.observer
        options.shapes = shapes
        options.pointerOfEmpty = pointerOfEmpty
        let host = ContractHost(scheme, options)
        self.host = host
        let table = scheme.pointee
        values = SettingValues(table.settings, table.setting_count, given: context.given, seed: settingsSeed ?? context.seed)
        declaredParameters =
            SettingValues(table.parameters, table.parameter_count, given: [], seed: 0).declarations
        parameters = declaredParameters.filter { !$0.defaultValue.isEmpty }.map { ContractPair($0.name, $0.defaultValue) }
        let (made, first) = Self.create(values, context, host)
        guard let made else {
            let report = first?.report.map { Shown.text($0.subject + [0x20] + $0.message) } ?? "no report"
            throw CheckStop.needsSettings("create refuses generated settings (\(report)); pass --set NAME=VALUE")
        }
        (instance, settings) = (made.instance, made.settings)
        noted = [made.outcome]
        let instance = made.instance
        needs = context.during(.needs) { instance.needs().needs } ?? ContractNeeds()
    }

    private struct Made {
        let instance: ContractInstance
        let settings: [ContractPair]
        let outcome: ContractOutcome
    }

    /// Creates an instance with the first generated settings that the scheme accepts.
    ///
    /// - Returns: the instance, and the first refusal for an error.
    private static func create(
        _ values: SettingValues, _ context: CheckContext, _ host: ContractHost
    ) -> (Made?, refusal: ContractOutcome?) {
        var refusal: ContractOutcome?
        for isIncluded in SettingValues.attempts {
            // A refusal names the setting to leave out or to give.
            var isNamed: [[UInt8]: Bool] = [:]
            for _ in 0...values.declarations.count {
                let settings = values.pairs { isNamed[$0.name] ?? isIncluded($0) }
                let (instance, outcome) = context.during(.create) { host.create(settings) }
                if let instance { return (Made(instance: instance, settings: settings, outcome: outcome), refusal) }
                refusal = refusal ?? outcome
                guard let name = outcome.report?.subject, isNamed[name] == nil,
                    let declaration = values.declarations.first(where: { $0.name == name }), !declaration.isRequired
                else { break }
                isNamed[name] = !isIncluded(declaration)
            }
        }
        return (nil, refusal)
    }

    func note(_ outcome: ContractOutcome) { if isNoting { noted.append(outcome) } }

    var flags: UInt32 { host.scheme.pointee.flags }

    /// Another instance with the same settings.
    func another() throws -> ContractInstance {
        let (made, outcome) = context.during(.create) { host.create(settings) }
        note(outcome)
        guard let made else { throw CheckStop.skip("lifecycle.independent explains it: a second instance can't be created") }
        _ = context.during(.needs) { made.needs() }
        return made
    }

    // MARK: Requests

    static let url = "https://api.example.com/orders?a=1"

    func request(
        _ method: String = "GET", _ url: String = Subject.url, headers: [ContractPair] = [], body: ContractRequest.Body = .none
    ) throws -> ContractRequest {
        guard let request = ContractRequest(method, url, headers: headers, body: body) else {
            throw CheckStop.skip("the check can't run: \(url) is not a URL")
        }
        return request
    }

    /// The view of a request that this scheme's needs ask for.
    func view(_ request: ContractRequest) -> ContractView {
        request.view(for: needs, at: PlausibleServer.now, random: Array(0..<32), parameters: parameters)
    }

    func view(
        _ method: String = "GET", _ url: String = Subject.url, headers: [ContractPair] = [], body: ContractRequest.Body = .none
    ) throws -> ContractView {
        view(try request(method, url, headers: headers, body: body))
    }

    static let body: [UInt8] = Array(#"{"item":"tea","count":2}"#.utf8)
    static let contentType = ContractPair("Content-Type", "application/json")

    /// Requests that every scheme should handle.
    func plainViews() throws -> [(name: String, view: ContractView)] {
        [
            ("a GET", try view()),
            ("a POST with a body", try view("POST", headers: [Self.contentType], body: .bytes(Self.body))),
        ]
    }

    // MARK: Calls

    func authorize(
        _ token: ContractInstance.TokenArgument, _ view: ContractView, on instance: ContractInstance? = nil
    ) -> ContractOutcome {
        let instance = instance ?? self.instance
        let outcome = context.during(.authorize) { instance.authorize(token, view) }
        note(outcome)
        return outcome
    }

    /// Frees each wrapping once, as a host does. Only for checks of wrapped bodies, which report a crash in `body_free`.
    func free(_ outcome: ContractOutcome, on instance: ContractInstance? = nil) {
        let instance = instance ?? self.instance
        for case .wrapBody(_, let wrapping) in outcome.calls { context.during(.bodyFree) { instance.freeBody(wrapping) } }
    }

    func decode(_ bytes: [UInt8], on instance: ContractInstance? = nil) -> (token: DecodedToken?, outcome: ContractOutcome) {
        let instance = instance ?? self.instance
        let (token, outcome) = context.during(.tokenDecode) { instance.decode(bytes) }
        note(outcome)
        return (token, outcome)
    }

    func respond(
        _ token: ContractInstance.TokenArgument, _ view: ContractView, _ response: ContractResponse
    ) -> ContractOutcome {
        let outcome = context.during(.onResponse) { instance.respond(token, view, to: response) }
        note(outcome)
        return outcome
    }

    // MARK: Tokens

    /// A login that reached a token, or the last one that didn't; nil for a scheme without flows.
    func login(label: String = "A", on instance: ContractInstance? = nil) -> FlowRun? {
        guard self.instance.hasFlows else { return nil }
        if label == "A", instance == nil, let knownLogin { return knownLogin }
        var last: FlowRun?
        for style in PlausibleServer.Style.allCases {
            let run = FlowDriver(self, Int(NEVOD_FLOW_LOGIN), PlausibleServer(style, label: label), on: instance).finished()
            if last == nil || run.token != nil { last = run }
            if let token = run.token, !token.bytes.isEmpty { break }
        }
        if label == "A", instance == nil { knownLogin = last }
        return last
    }

    /// The style of server that lets a login reach a token.
    func serverStyle() -> PlausibleServer.Style {
        PlausibleServer.Style.allCases.first { style in
            FlowDriver(self, Int(NEVOD_FLOW_LOGIN), PlausibleServer(style)).finished().token?.bytes.isEmpty == false
        } ?? .json
    }

    /// The token of a login; nil for a scheme without flows, or if the login doesn't reach one.
    var issued: ContractToken? {
        guard let token = login()?.token, !token.bytes.isEmpty else { return nil }
        return token
    }

    /// The token of a login. Skips the check if there is none.
    func issuedToken() throws -> ContractToken {
        guard let run = login() else { throw CheckStop.skip("the scheme has no flows") }
        guard let issued else { throw CheckStop.skip("a login at a generic server reaches no token: \(run.reason)") }
        return issued
    }

    /// The credential for `authorize`: the decoded token of a login, or nothing.
    func credential(_ token: ContractToken? = nil, on instance: ContractInstance? = nil) -> ContractInstance.TokenArgument {
        guard let token = token ?? issued else { return .none }
        guard self.instance.decodesTokens else { return .stored(token) }
        guard let decoded = decode(token.bytes, on: instance).token else { return .none }
        return .decoded(decoded)
    }

    /// A credential that authorizes a plain request. Skips the check if there is none.
    func usableCredential() throws -> ContractInstance.TokenArgument {
        let token = credential()
        let outcome = authorize(token, try view())
        guard outcome.result != NEVOD_OK else { return token }
        let report = outcome.report.map { Shown.text($0.message) } ?? "no report"
        let login = issued == nil ? login().map { "; a login at a generic server reaches no token: \($0.reason)" } ?? "" : ""
        throw CheckStop.skip("authorize refuses a plain request: \(TestFailure.name(of: outcome.result)), \(report)\(login)")
    }

    /// Skips a comparison of results that differ by design, or because of a fault that another check reports.
    func requireDeterminism(_ token: ContractInstance.TokenArgument) throws {
        guard flags & UInt32(NEVOD_SCHEME_NONDETERMINISTIC) == 0 else {
            throw CheckStop.skip("the scheme declares NEVOD_SCHEME_NONDETERMINISTIC")
        }
        let view = try view()
        guard Signed(authorize(token, view)) == Signed(authorize(token, view)) else {
            throw CheckStop.skip("authorize.same-twice fails")
        }
    }

    /// The values that must stay secret.
    func canaries() -> Canaries {
        var canaries = Canaries()
        for pair in settings where values.declarations.contains(where: { $0.isSecret && $0.name == pair.name }) {
            canaries.add("the setting \(Shown.text(pair.name))", pair.value)
        }
        canaries.add("the password that a person entered", Array(PlausibleServer.password.utf8))
        canaries.add("the code that a person entered", Array(PlausibleServer.code.utf8))
        canaries.add("the token that the server issued", Array(PlausibleServer(.json).token.utf8))
        if let issued { canaries.add("the issued token", issued.bytes) }
        return canaries
    }
}

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
    /// A request that every scheme must refuse.
    func unknownTarget() throws -> ContractView {
        var view = try view()
        view.targetKind = 77
        return view
    }

    /// Whether the results for plain requests obey the rules. If not, other checks report it, and odd requests would reveal
    /// nothing more.
    private func isLegal(_ token: ContractInstance.TokenArgument) throws -> (edits: Bool, statuses: Bool) {
        let edits = try plainViews().allSatisfy { EditRules.problem(authorize(token, $0.view), $0.view, needs) == nil }
        return (edits, Status.isKnown(authorize(token, try unknownTarget()).result))
    }

    /// Authorizes odd requests. The scheme may refuse each, but only by the rules.
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
                    "A host accepts the edits for \(name)", problem,
                    "Encode data from the request, or return NEVOD_UNSUPPORTED")
            }
        }
        return .pass
    }
}
