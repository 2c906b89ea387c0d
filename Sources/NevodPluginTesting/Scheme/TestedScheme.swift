internal import NevodPluginABI
internal import NevodSupport

/// An instance of a scheme in a test. Keeps the state that a host would keep.
public final class TestedScheme: Sendable {
    /// The time that the scheme sees.
    public let clock: TestClock
    let random: TestRandom
    let instance: ContractInstance
    let needs: ContractNeeds
    private let memory = Locked<Memory>(Memory())

    private struct Memory {
        var state: [UInt8] = []
        var uses: UInt64 = 0
        var logLines: [TestLogLine] = []
    }

    init(_ host: ContractHost, _ settings: [(String, String)], clock: TestClock, random: TestRandom) throws(TestFailure) {
        self.clock = clock
        self.random = random
        var reader = TableReader()
        let scheme = host.scheme.pointee
        let declared = DeclaredSettings(scheme.settings, scheme.setting_count, &reader)
        let (made, outcome) = host.create(try declared.complete(settings, "setting"))
        guard let made else { throw TestFailure(outcome, function: "create") }
        instance = made
        let (needs, faults) = made.needs()
        if let fault = faults.first { throw TestFailure(fault, function: "needs") }
        self.needs = needs ?? ContractNeeds()
        memory.withLock { $0.logLines = outcome.logLines }
    }

    /// The state that flows, ``respond(to:request:token:)`` or the test set.
    public var state: [UInt8] {
        get { memory.withLock { $0.state } }
        set { setState(newValue) }
    }

    func setState(_ state: [UInt8]) {
        memory.withLock { memory in
            if memory.state != state { memory.uses = 0 }
            memory.state = state
        }
    }

    /// All lines that the scheme has written to the log, in order.
    public var logLines: [TestLogLine] { memory.withLock { $0.logLines } }

    /// Takes the log lines of a call, and throws if the call broke the contract.
    func note(_ outcome: ContractOutcome, of function: String) throws(TestFailure) {
        memory.withLock { $0.logLines += outcome.logLines }
        if let fault = outcome.faults.first { throw TestFailure(fault, function: function) }
        if let kept = instance.host.keptSinkCalls.first {
            throw TestFailure(
                "\(kept.function) was called after \(kept.of) had returned, or on another thread", function: kept.of)
        }
    }

    /// Decodes a token, if the scheme decodes tokens.
    func argument(_ token: TestToken?) throws(TestFailure) -> ContractInstance.TokenArgument {
        guard let token else { return .none }
        guard instance.decodesTokens else { return .stored(token.contract) }
        let (decoded, outcome) = instance.decode(token.bytes)
        try note(outcome, of: "token_decode")
        guard let decoded else { throw TestFailure(outcome, function: "token_decode") }
        return .decoded(decoded)
    }

    func parameters(_ given: KeyValuePairs<String, String>) throws(TestFailure) -> [ContractPair] {
        var reader = TableReader()
        let scheme = instance.host.scheme.pointee
        return try DeclaredSettings(scheme.parameters, scheme.parameter_count, &reader)
            .inOrder(given.map { ($0.key, $0.value) }, "parameter")
    }

    func view(
        of request: ContractRequest, attempt: Int = 1, parameters: [ContractPair], countsUse: Bool = true
    ) -> ContractView {
        let (state, uses) = memory.withLock { memory in
            defer { if countsUse { memory.uses += 1 } }
            return (memory.state, memory.uses)
        }
        return request.view(
            for: needs, at: clock.unixNanoseconds, random: random.bytes(), state: state, useCount: uses,
            attempt: UInt32(clamping: attempt), parameters: parameters)
    }

    /// Calls `authorize`, and applies its edits to the request.
    ///
    /// - Parameters:
    ///   - request: the request before the scheme's edits.
    ///   - token: nil if the scheme's settings are its credential.
    ///   - attempt: 1 for the first sending of a request.
    ///   - parameters: the parameters that the caller attaches to the request.
    /// - Throws: ``TestFailure``: the scheme's own error, or the error for an edit that a host refuses.
    public func authorize(
        _ request: TestRequest, token: TestToken? = nil, attempt: Int = 1, parameters: KeyValuePairs<String, String> = [:]
    ) throws(TestFailure) -> SignedRequest {
        let contract = try request.contract()
        let argument = try argument(token)
        let view = view(of: contract, attempt: attempt, parameters: try self.parameters(parameters))
        let outcome = instance.authorize(argument, view)
        try note(outcome, of: "authorize")
        guard outcome.result == NEVOD_OK else { throw TestFailure(outcome, function: "authorize") }
        return try SignedRequest(request, contract, outcome, of: self)
    }

    /// Shows the scheme a response to a request that it has authorized.
    ///
    /// - Parameters:
    ///   - response: the server's response. The scheme sees only what its needs name.
    ///   - request: the request with the scheme's edits.
    ///   - token: the token that the request carried.
    /// - Returns: the verdict, and the token that the scheme keeps from now on. The new state is ``state``.
    /// - Throws: ``TestFailure`` if the scheme performs an action that a host refuses here.
    public func respond(
        to response: TestResponse, request: TestRequest, token: TestToken? = nil
    ) throws(TestFailure) -> ResponseVerdict {
        let contract = try request.contract()
        let argument = try argument(token)
        let view = view(of: contract, parameters: [], countsUse: false)
        var seen = response.contract(url: request.url)
        seen.digests = ContractRequest.digests(needs.responseDigests, of: response.body)
        let isChallenge =
            response.status == 401 || response.status == 403 || needs.challengeStatuses.contains(Int32(clamping: response.status))
            || needs.namesType(of: seen, to: request.method)
        if !isChallenge || !needs.has(NEVOD_NEED_CHALLENGE_BODY) { seen.body = [] }
        let outcome = instance.respond(argument, view, to: seen)
        try note(outcome, of: "on_response")
        if let state = outcome.state { setState(state) }
        return try ResponseVerdict(outcome)
    }
}

/// The settings, or the parameters, that a scheme declares, as far as a test needs them.
struct DeclaredSettings {
    private struct Setting {
        let name: String
        let isRequired: Bool
        let isURL: Bool
        let mayBeRelative: Bool
        let defaultValue: [UInt8]
    }

    private let settings: [Setting]

    init(
        _ tables: UnsafePointer<UnsafePointer<nevod_setting>?>?, _ count: UInt32, _ reader: inout TableReader
    ) {
        var settings: [Setting] = []
        for pointer in reader.array(tables, count, "the settings") {
            guard let table = reader.table(pointer, nevod_setting(), NEVOD_SETTING_MINIMUM, "nevod_setting") else { continue }
            settings.append(
                Setting(
                    name: String(decoding: reader.bytes(table.name, "a setting's name"), as: UTF8.self),
                    isRequired: table.flags & UInt32(NEVOD_SETTING_REQUIRED) != 0,
                    isURL: table.kind == NEVOD_SETTING_URL, mayBeRelative: table.flags & UInt32(NEVOD_SETTING_RELATIVE) != 0,
                    defaultValue: reader.bytes(table.default_value, "a setting's default")))
        }
        self.settings = settings
    }

    /// Returns the given values, then the defaults of the others. Makes relative URLs absolute, as a host does.
    ///
    /// - Parameter what: "setting" or "parameter".
    func complete(_ given: [(String, String)], _ what: String) throws(TestFailure) -> [ContractPair] {
        for (name, _) in given where !settings.contains(where: { $0.name == name }) {
            let known = settings.map { "\"\($0.name)\"" }.joined(separator: ", ")
            throw TestFailure("the scheme has no \(what) \"\(name)\"; it has \(known.isEmpty ? "none" : known)")
        }
        var values = given.map { ContractPair($0.0, $0.1) }
        for setting in settings where !given.contains(where: { $0.0 == setting.name }) {
            if !setting.defaultValue.isEmpty {
                values.append(ContractPair(setting.name, setting.defaultValue))
            } else if setting.isRequired {
                throw TestFailure("the \(what) \"\(setting.name)\" is required")
            }
        }
        let base = settings.first { $0.isURL && !$0.mayBeRelative }
        guard let base = values.first(where: { $0.name.elementsEqual((base?.name ?? "").utf8) })?.value else { return values }
        return values.map { pair in
            guard settings.contains(where: { $0.mayBeRelative && $0.name.utf8.elementsEqual(pair.name) }),
                let url = URLReference(String(decoding: pair.value, as: UTF8.self))
                    .resolved(toPathOf: String(decoding: base, as: UTF8.self))
            else { return pair }
            return ContractPair(pair.name, Array(url.utf8))
        }
    }

    /// The same in the order of the declarations.
    func inOrder(_ given: [(String, String)], _ what: String) throws(TestFailure) -> [ContractPair] {
        let all = try complete(given, what)
        return settings.flatMap { setting in all.filter { $0.name.elementsEqual(setting.name.utf8) } }
    }
}
