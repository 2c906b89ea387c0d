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

    /// The state that flows and ``respond(to:request:token:)`` set, or the test.
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

    /// Takes the log lines of a call, and complains about what breaks the contract.
    func note(_ outcome: ContractOutcome, of function: String) throws(TestFailure) {
        memory.withLock { $0.logLines += outcome.logLines }
        if let fault = outcome.faults.first { throw TestFailure(fault, function: function) }
        if let kept = instance.host.keptSinkCalls.first {
            throw TestFailure(
                "\(kept.function) was called after \(kept.of) had returned, or on another thread", function: kept.of)
        }
    }

    /// Decodes a token, if the scheme wants that.
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
    ///   - request: before the scheme's edits.
    ///   - token: nil for a scheme whose settings are its credential.
    ///   - attempt: 1 for the first sending of a request.
    ///   - parameters: those that the caller attaches to the request.
    /// - Throws: ``TestFailure``: the scheme's own, or for an edit that a host refuses.
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
    ///   - response: the server's, of which the scheme sees what its needs name.
    ///   - request: with the scheme's edits.
    ///   - token: the one that the request carried.
    /// - Returns: the verdict, and the token that the scheme keeps from now on. The new state is ``state``.
    /// - Throws: ``TestFailure`` for an action that a host refuses here.
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
