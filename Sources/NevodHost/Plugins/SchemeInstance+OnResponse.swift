internal import NevodPluginABI
internal import NevodSupport

extension SchemeInstance {
    /// Shows the scheme the response to the request of an exchange, on a worker's thread if the scheme may block.
    ///
    /// - Parameter isAtEnd: whether the caller has reached the end of the body, perhaps after the request's deadline, and on a
    ///   thread of its own.
    /// - Returns: the scheme's verdict, and the token to keep instead of the one that the request carried, if any.
    /// - Throws: ``PluginError`` at the request's deadline, or if the scheme fails or refuses the response (its state and token
    ///   are then dropped); `CancellationError`.
    func verdict(
        on response: FlowResponse, _ exchange: borrowing Exchange, _ use: SchemeUse, isAtEnd: Bool = false
    ) async throws -> (Verdict, kept: IssuedToken?) {
        let (request, attempt) = (exchange.request, exchange.attempt)
        let deadline = exchange.deadline.map { isAtEnd ? max($0, .now + .seconds(10)) : $0 }
        let seen = try await recording("on_response", in: exchange.work) {
            guard mayBlock || isAtEnd else { return try reaction(to: response, to: request, attempt: attempt, use) }
            return try await onWorker("on_response", until: deadline) { () throws(PluginError) in
                try self.reaction(to: response, to: request, attempt: attempt, use)
            }
        }
        return settle(seen, request, use)
    }

    /// Shows the scheme a response on this thread.
    func verdict(
        on response: FlowResponse, to request: HTTPRequest, attempt: Int, _ use: SchemeUse
    ) throws(PluginError) -> (Verdict, kept: IssuedToken?) {
        settle(try reaction(to: response, to: request, attempt: attempt, use), request, use)
    }

    /// The result of `on_response`.
    private struct Reaction: Sendable {
        var verdict = Verdict.nothing
        var kept: IssuedToken?
        var state: Secret?
        /// Nil if the scheme reported nothing.
        var report: String?
    }

    /// Keeps the state of a reaction, and logs its report. Separate from the call, since a call that returns after its request's
    /// deadline must change nothing.
    private func settle(_ seen: Reaction, _ request: HTTPRequest, _ use: SchemeUse) -> (Verdict, kept: IssuedToken?) {
        if let state = seen.state { replaceState(of: use.state, with: state, at: place(of: request, use.account)) }
        if let report = seen.report { services.log(Int32(NEVOD_LOG_WARNING), "on_response: \(report)") }
        return (seen.verdict, seen.kept)
    }

    private func reaction(
        to response: FlowResponse, to request: HTTPRequest, attempt: Int, _ use: SchemeUse
    ) throws(PluginError) -> Reaction {
        guard let onResponse = scheme.table.pointee.on_response else { return Reaction() }
        let lent = BorrowedBytes()
        var actions = ActionSink(provenance: provenance)
        var table = response.table(lent)
        var errors = ErrorSink()
        let result = view(of: request, attempt, use.state, use.parameters, use.streamDigests).withTable { view in
            PluginCall.run("on_response", isTimed: true, services, errors: &errors, actions: &actions) { sinks in
                onResponse(handle, use.token?.handle, view, &table, sinks.actions, sinks.errors)
            }
        }
        withExtendedLifetime(lent) {}
        var fault = actions.problem
        var kept: IssuedToken?
        switch actions.action {
        case .keep(let token): kept = token.moved(by: -clocks.correction(at: clockOrigin(of: request)))
        case .some: fault = fault ?? "on_response may call only set_state and keep"
        case nil: break
        }
        if let fault {
            throw PluginError(scheme.plugin, .flowFault(scheme: scheme.id, flow: "on_response", problem: fault))
        }
        let verdict = Verdict(rawValue: result) ?? .nothing
        if case .refuse = verdict {
            throw PluginError(
                scheme.plugin,
                .refusedResponse(scheme: scheme.id, subject: errors.subject, message: errors.message, detail: errors.detail))
        }
        let subject = errors.subject.isEmpty ? "" : "\(errors.subject) "
        return Reaction(
            verdict: verdict, kept: kept, state: actions.state, report: errors.isReported ? "\(subject)\(errors.message)" : nil)
    }
}

/// The decision of a scheme's `on_response` about a response.
enum Verdict: Int32, Sendable {
    case nothing = 0
    /// The next request will use the new state.
    case stateChanged
    /// The state has changed so that the same request would now succeed.
    case retryOnce
    /// A challenge flow is needed before the retry.
    case challenge
    /// The response can't be trusted.
    case refuse
}

/// The parts of a response's body that `on_response` may see.
struct ReceivedBody: Sendable {
    /// The first bytes of a challenge's body; more than ``limit`` if the body is longer.
    var head: [UInt8] = []
    /// Whether there may be more of the body than ``head``.
    var isCut = false
    /// Nil if the scheme needs no digests, or if the transport decoded the received bytes.
    var digests: ResponseDigests?
    /// Whether `on_response` runs when the caller has read the body to its end.
    var isShownAtEnd = false

    /// How many bytes of a challenge's body a scheme may see.
    static let limit = Int(NEVOD_LIMIT_CHALLENGE_BODY)
}

extension SchemeInstance {
    /// Returns the response as the scheme sees it.
    ///
    /// - Parameter body: the parts of the body, if it was received as a stream.
    func shown(_ response: HTTPResponse, _ body: ReceivedBody, to request: HTTPRequest) -> FlowResponse {
        var head = body.head
        if case .bytes(let bytes) = response.body { head = bytes }
        let showsBody = needs.challengeBody && needs.isChallenge(response, to: request.method, from: target)
        return FlowResponse(
            status: response.status, isFromProxy: target == .proxy, headers: response.headers,
            body: showsBody ? Array(head.prefix(ReceivedBody.limit)) : [],
            isCut: showsBody && (body.isCut || head.count > ReceivedBody.limit), digests: body.digests?.values ?? [],
            url: request.url)
    }
}
