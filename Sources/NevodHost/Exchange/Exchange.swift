/// What one request carries through the chain: the request itself, with the author of every part, which attempt it is, and
/// which version of a token it was given.
public struct Exchange: Sendable {
    /// As it will be sent, so far: each interceptor sees what those before it wrote.
    public var request: HTTPRequest
    /// What the transport is given. ``TransferOptions/timeout`` is what was left of the request's when the attempt began.
    public let options: TransferOptions
    /// 1 for the first sending.
    public let attempt: Int
    /// False once a redirect has led to another origin (RFC 6454): whatever a token writes is taken off again, and an answer
    /// says nothing about a token.
    public let mayCarryCredentials: Bool
    /// When this attempt was begun, before its way through the chain.
    public let began = ContinuousClock.now

    /// The request's deadline; nil if none.
    let deadline: ContinuousClock.Instant?
    /// Kept across attempts.
    var bindings: CredentialBindings
    private let yieldSlot: YieldSlot?

    /// Gives up the request's slot among those in flight, and returns what takes it again.
    typealias YieldSlot = @Sendable () -> @Sendable () async throws -> Void

    init(
        request: HTTPRequest, options: TransferOptions, attempt: Int = 1, mayCarryCredentials: Bool = true,
        deadline: ContinuousClock.Instant? = nil, bindings: CredentialBindings = CredentialBindings(),
        yieldSlot: YieldSlot? = nil
    ) {
        self.request = request
        self.options = options
        self.attempt = attempt
        self.mayCarryCredentials = mayCarryCredentials
        self.deadline = deadline
        self.bindings = bindings
        self.yieldSlot = yieldSlot
    }

    /// Records every change that `body` makes as `author`'s.
    public mutating func edit<Failure: Error>(
        as provenance: Provenance, _ body: (inout HTTPRequest) throws(Failure) -> Void
    ) throws(Failure) {
        let previous = request.provenance
        request.provenance = provenance
        defer { request.provenance = previous }
        try body(&request)
    }

    /// Runs `wait` without a slot among the requests in flight, since what it waits for may be another request.
    func yieldingSlot<Success: Sendable>(_ wait: () async throws -> Success) async throws -> Success {
        let reacquire = yieldSlot?()
        let result = try await wait()
        try await reacquire?()
        return result
    }
}

extension Exchange {
    /// The exchange on whose behalf this task runs, for interceptors and tokens that are written against another library's
    /// request and so can't be handed it. Nil outside a provider.
    @TaskLocal public static var current: Exchange?
}
