internal import NevodPluginABI
internal import NevodSupport

extension SchemeInstance {
    /// Puts the credential on a request that is otherwise complete. Applies all edits, or none.
    ///
    /// - Parameters:
    ///   - attempt: 1 for the first sending.
    ///   - token: the decoded token; nil for a scheme whose settings are its credential.
    ///   - account: the account that the token belongs to.
    ///   - streamDigests: the digests of a streamed body, if the scheme needs them and the body can be read twice.
    /// - Returns: the state that the scheme has seen, for `on_response`.
    @discardableResult
    func authorize(
        _ request: inout HTTPRequest, attempt: Int, token: LiveToken? = nil, account: String = "",
        streamDigests: StreamDigests? = nil
    ) throws(PluginError) -> StateUse {
        let use = needs.useCount || needs.state ? nextUse(at: place(of: request, account)) : StateUse()
        let outcome = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { memory -> Result<Void, PluginError> in
            var edits = EditSink(memory, target: target)
            var errors = ErrorSink()
            let status = view(of: request, attempt, use, streamDigests).withTable { view in
                PluginCall.run("authorize", services, errors: &errors, edits: &edits) { sinks in
                    scheme.table.pointee.authorize(handle, token?.handle, view, sinks.edits, sinks.errors)
                }
            }
            if let (what, problem) = edits.refusal {
                return .failure(PluginError(scheme.plugin, .refusedEdit(scheme: scheme.id, what: what, problem: problem)))
            }
            guard status == NEVOD_OK else { return .failure(errors.error(status, in: "authorize", of: scheme)) }
            let caller = request.provenance
            request.provenance = provenance
            defer { request.provenance = caller }
            do throws(InvalidRequestError) { try edits.apply(to: &request) } catch {
                return .failure(
                    PluginError(scheme.plugin, .refusedEdit(scheme: scheme.id, what: "the request", problem: error.problem)))
            }
            return .success(())
        }
        try outcome.get()
        return use
    }

    /// Shows the scheme the response to a request that it authorized.
    ///
    /// - Returns: the scheme's verdict, and the token to keep instead of the one that the request carried, if any.
    func verdict(
        on response: FlowResponse, to request: HTTPRequest, attempt: Int, _ use: SchemeUse
    ) throws(PluginError) -> (Verdict, kept: IssuedToken?) {
        guard let onResponse = scheme.table.pointee.on_response else { return (.nothing, nil) }
        let lent = BorrowedBytes()
        var actions = ActionSink(provenance: provenance)
        var table = response.table(lent)
        var errors = ErrorSink()
        let result = view(of: request, attempt, use.state).withTable { view in
            PluginCall.run("on_response", services, errors: &errors, actions: &actions) { sinks in
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
        if let state = actions.state { replaceState(of: use.state, with: state, at: place(of: request, use.account)) }
        return (verdict, kept)
    }

    private func view(
        of request: borrowing HTTPRequest, _ attempt: Int, _ use: StateUse, _ streamDigests: StreamDigests? = nil
    ) -> RequestViewBuilder {
        RequestViewBuilder(
            of: request, for: target, needs, attempt: attempt, at: time(of: request), use, streamDigests)
    }

    private func time(of request: borrowing HTTPRequest) -> Int64 {
        clocks.isCorrecting ? clocks.nanoseconds(at: clockOrigin(of: request)) : clocks.wall.unixNanoseconds()
    }

    /// The origin whose clock counts for a request; nil for a proxy, since the `Date` of a response is not the proxy's.
    private func clockOrigin(of request: borrowing HTTPRequest) -> Origin? {
        target == .proxy ? nil : request.origin
    }

    private func place(of request: borrowing HTTPRequest, _ account: String) -> StatePlace {
        place(account: account, origin: request.origin)
    }
}
