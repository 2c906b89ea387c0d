/// One attempt of a request on its way through the chain: the request with the ``Provenance`` of every part, the attempt's
/// number, and the versions of the tokens that the request carries.
public struct Exchange: Sendable {
    /// The request, including the edits of all interceptors that have run so far.
    public var request: HTTPRequest
    /// The options for the transport. ``TransferOptions/timeout`` is the time that the request had left when the attempt began.
    public let options: TransferOptions
    /// The parameters that the caller attached for schemes.
    public let schemeParameters: SchemeParameters
    /// The number of the attempt, from 1.
    public let attempt: Int
    /// False once a redirect has led to another origin (RFC 6454). Everything that tokens write is then removed before sending, and
    /// a response says nothing about a token's validity.
    public let mayCarryCredentials: Bool
    /// When the attempt began, before it went through the chain.
    public let began = ContinuousClock.now

    /// The request's deadline; nil if none.
    package let deadline: ContinuousClock.Instant?
    /// The tokens that the request carries. Kept across attempts.
    var bindings: CredentialBindings
    /// Whether an interceptor reads every byte of the response. The response is then received as a stream.
    var readsWholeBody = false
    /// Whether an interceptor has provided a credential that meets the route's requirement, if the route has one.
    var hasCredential = false
    /// The task that works on the request; nil if no interceptor of the request may block.
    var work: RequestWork?
    private let yieldSlot: YieldSlot?

    /// Releases the request's ``DispatchSlot``, and returns a closure that acquires it again.
    typealias YieldSlot = @Sendable () -> @Sendable () async throws -> Void

    init(
        request: HTTPRequest, options: TransferOptions, schemeParameters: SchemeParameters = [:], attempt: Int = 1,
        mayCarryCredentials: Bool = true,
        deadline: ContinuousClock.Instant? = nil, bindings: CredentialBindings = CredentialBindings(),
        work: RequestWork? = nil, yieldSlot: YieldSlot? = nil
    ) {
        self.request = request
        self.options = options
        self.schemeParameters = schemeParameters
        self.attempt = attempt
        self.mayCarryCredentials = mayCarryCredentials
        self.deadline = deadline
        self.bindings = bindings
        self.work = work
        self.yieldSlot = yieldSlot
        if let work, let yieldSlot { work.yieldSlotWhenAbandoned(yieldSlot) }
    }

    /// Records `provenance` for every edit that `body` makes to the request.
    public mutating func edit<Failure: Error>(
        as provenance: Provenance, _ body: (inout HTTPRequest) throws(Failure) -> Void
    ) throws(Failure) {
        let previous = request.provenance
        request.provenance = provenance
        defer { request.provenance = previous }
        try body(&request)
    }

    /// Runs `wait` without holding the request's ``DispatchSlot``: `wait` may depend on another request that needs one. If `wait`
    /// throws, the slot is not acquired again, so the error must fail the attempt.
    ///
    /// - Throws: errors of `wait`; ``NetworkError/timeout(_:)`` at the deadline.
    package func yieldingSlot<Success: Sendable>(_ wait: () async throws -> Success) async throws -> Success {
        let reacquire = yieldSlot?()
        do {
            let result = try await wait()
            try await reacquire?()
            try work?.check()
            return result
        } catch is DeadlineExceededError {
            throw NetworkError(.deadlineExceeded)
        }
    }
}

extension Exchange {
    /// The exchange that this task works on, for interceptors and tokens written against another library's request, which can't
    /// receive it as a parameter. Nil outside a provider.
    @TaskLocal public static var current: Exchange?
}

extension Exchange {
    /// The route that the request was made from; nil for a request made without one.
    public var route: RouteDescription? { request.route }
}
