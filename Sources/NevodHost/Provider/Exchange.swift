/// What one request carries through the chain: the request itself, with the author of every part, which attempt it is, and
/// which version of a token it was given.
public struct Exchange: Sendable {
    /// As it will be sent, so far: each interceptor sees what those before it wrote.
    public var request: HTTPRequest
    /// Of this request. ``TransferOptions/timeout`` is what was left of it when the attempt began.
    public let options: TransferOptions
    /// 1 for the first sending.
    public let attempt: Int
    /// False once a redirect has led to another origin (RFC 6454): whatever a token writes is taken off again, and an answer
    /// says nothing about a token.
    public let mayCarryCredentials: Bool
    /// When this attempt was begun, before its way through the chain.
    public let began = ContinuousClock.now

    /// When the request's time is over; nil: never.
    let deadline: ContinuousClock.Instant?
    /// Outlives the attempts.
    var bindings: CredentialBindings
    private var slot: DispatchSlot?

    init(
        request: HTTPRequest, options: TransferOptions, attempt: Int = 1, mayCarryCredentials: Bool = true,
        deadline: ContinuousClock.Instant? = nil, bindings: CredentialBindings = CredentialBindings(),
        slot: DispatchSlot? = nil
    ) {
        self.request = request
        self.options = options
        self.attempt = attempt
        self.mayCarryCredentials = mayCarryCredentials
        self.deadline = deadline
        self.bindings = bindings
        self.slot = slot
    }

    /// Records every change that `body` makes as `author`'s.
    public mutating func edit<Failure: Error>(
        as author: Author, _ body: (inout HTTPRequest) throws(Failure) -> Void
    ) throws(Failure) {
        let previous = request.author
        request.author = author
        defer { request.author = previous }
        try body(&request)
    }

    /// Waits for something that other requests may be needed for: meanwhile this one holds no place among those that are on
    /// their way. One that held none, because its answer is there, needs none afterwards.
    func steppingAside<Success: Sendable>(_ wait: () async throws -> Success) async throws -> Success {
        let hadSlot = slot?.giveBack() == true
        let result = try await wait()
        if hadSlot { try await slot?.reacquire(until: deadline) }
        return result
    }

    func endDispatch() {
        slot?.release()
    }
}

extension Exchange {
    /// The exchange on whose behalf this task runs, for interceptors and tokens that are written against another library's
    /// request and so can't be handed it. Nil outside a provider.
    @TaskLocal public static var current: Exchange?
}

/// Which version of which token a request carries, and what it has tried already.
struct CredentialBindings: Sendable {
    private struct Binding {
        let owner: ObjectIdentifier
        var version: TokenVersion
        var renewals = 0
        var replacements = 0
    }

    private var bindings: [Binding] = []
    /// What schemes authorised it with.
    private var uses: [(owner: ObjectIdentifier, use: SchemeUse)] = []
    private var challenges = 0

    /// - Parameter owner: the token's storage.
    mutating func bind(_ version: TokenVersion, of owner: ObjectIdentifier) {
        if let index = bindings.firstIndex(where: { $0.owner == owner }) {
            bindings[index].version = version
        } else {
            bindings.append(Binding(owner: owner, version: version))
        }
    }

    func version(of owner: ObjectIdentifier) -> TokenVersion? {
        bindings.first { $0.owner == owner }?.version
    }

    /// - Parameter owner: the scheme's instance.
    mutating func bind(_ use: SchemeUse, of owner: ObjectIdentifier) {
        uses.removeAll { $0.owner == owner }
        uses.append((owner, use))
    }

    /// Nil: that scheme has not authorised this request.
    func use(of owner: ObjectIdentifier) -> SchemeUse? {
        uses.first { $0.owner == owner }?.use
    }

    /// A few times: a nonce can run out while a request that carries it is on its way.
    mutating func mayAnswerChallenge() -> Bool {
        challenges += 1
        return challenges <= 3
    }

    /// Once: a second refusal, of the fresh token, is the server's last word.
    mutating func mayRenew(_ owner: ObjectIdentifier) -> Bool {
        guard let index = bindings.firstIndex(where: { $0.owner == owner }) else { return true }
        bindings[index].renewals += 1
        return bindings[index].renewals == 1
    }

    /// A few times: a token can be replaced again while a request is on its way.
    mutating func mayUseReplacement(_ owner: ObjectIdentifier) -> Bool {
        guard let index = bindings.firstIndex(where: { $0.owner == owner }) else { return true }
        bindings[index].replacements += 1
        return bindings[index].replacements <= 3
    }
}
