internal import NevodPluginABI
internal import NevodPluginTesting

/// A scheme that is checked, with one instance of it.
final class Subject {
    let context: CheckContext
    let host: ContractHost
    let memory = SwitchedMemory()
    let values: SettingValues
    let settings: [ContractPair]
    let instance: ContractInstance
    let needs: ContractNeeds
    /// As a host passes them if the caller gives none.
    let parameters: [ContractPair]
    let declaredParameters: [SettingValues.Declaration]
    /// All calls so far, while ``isNoting``.
    private(set) var noted: [ContractOutcome] = []
    var isNoting = true
    private var knownLogin: FlowRun?

    /// - Parameters:
    ///   - shapes: the sizes of the host's structs, if they differ from this version's.
    ///   - pointerOfEmpty: the address that an empty text has; NULL if nil.
    ///   - settingsSeed: for the generated values of settings; the one of the run if nil.
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
            throw CheckStop.skip("create refuses generated settings (\(report)); pass --set NAME=VALUE")
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
    /// - Returns: also the first refusal, for an error.
    private static func create(
        _ values: SettingValues, _ context: CheckContext, _ host: ContractHost
    ) -> (Made?, refusal: ContractOutcome?) {
        var refusal: ContractOutcome?
        for isIncluded in SettingValues.attempts {
            // A refusal names the setting that has to be left out, or that has to be given.
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
            throw CheckStop.skip("the check can't be made: \(url) is no URL")
        }
        return request
    }

    /// The view of a request as this scheme asked for it.
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

    /// Requests that each scheme should know.
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

    /// As a host does, once for each wrapping. Only in checks of wrapped bodies: a crash in `body_free` is theirs to report.
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

    /// The style of server with which a login reaches a token.
    func serverStyle() -> PlausibleServer.Style {
        PlausibleServer.Style.allCases.first { style in
            FlowDriver(self, Int(NEVOD_FLOW_LOGIN), PlausibleServer(style)).finished().token?.bytes.isEmpty == false
        } ?? .json
    }

    /// The token of a login; nil for a scheme without flows, and if the login reaches none.
    var issued: ContractToken? {
        guard let token = login()?.token, !token.bytes.isEmpty else { return nil }
        return token
    }

    /// The token of a login; otherwise the check is skipped.
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

    /// A credential with which a plain request is authorized; otherwise the check is skipped.
    func usableCredential() throws -> ContractInstance.TokenArgument {
        let token = credential()
        let outcome = authorize(token, try view())
        guard outcome.result != NEVOD_OK else { return token }
        let report = outcome.report.map { Shown.text($0.message) } ?? "no report"
        let login = issued == nil ? login().map { "; a login at a generic server reaches no token: \($0.reason)" } ?? "" : ""
        throw CheckStop.skip("authorize refuses a plain request: \(TestFailure.name(of: outcome.result)), \(report)\(login)")
    }

    /// Skips a comparison of results that differ by design, or by a fault that another check reports.
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
