internal import NevodPluginABI
internal import NevodSupport

extension SchemeInstance {
    /// Puts the credential on a request that is otherwise complete. Applies all edits, or none.
    ///
    /// - Parameters:
    ///   - attempt: 1 for the first sending.
    ///   - token: the decoded token; nil for a scheme whose settings are its credential.
    ///   - account: the account that the token belongs to.
    ///   - parameters: the request's parameters; nil if the scheme declares none.
    ///   - streamDigests: the digests of a streamed body, if the scheme needs them and the body can be read twice.
    ///   - work: the request's work, which records the calls for a wrapped body.
    /// - Returns: the state that the scheme has seen, for `on_response`.
    @discardableResult
    func authorize(
        _ request: inout HTTPRequest, attempt: Int, token: LiveToken? = nil, account: String = "",
        parameters: ParameterSet? = nil, streamDigests: StreamDigests? = nil, work: RequestWork? = nil
    ) throws(PluginError) -> StateUse {
        let use = needs.useCount || needs.state ? nextUse(at: place(of: request, account)) : StateUse()
        let outcome = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { memory -> Result<Void, PluginError> in
            var edits = EditSink(memory, of: self, needs.replacesBody ? BodyShape(request.body) : nil, work)
            var errors = ErrorSink()
            let status = view(of: request, attempt, use, parameters, streamDigests).withTable { view in
                PluginCall.run("authorize", isTimed: true, services, errors: &errors, edits: &edits) { sinks in
                    scheme.table.pointee.authorize(handle, token?.handle, view, sinks.edits, sinks.errors)
                }
            }
            if let (what, problem) = edits.refusal {
                return .failure(PluginError(scheme.plugin, .refusedEdit(scheme: scheme.id, what: what, problem: problem)))
            }
            guard status == NEVOD_OK else { return .failure(errors.error(status, in: .function("authorize"), of: scheme)) }
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

    /// Puts the credential on the request of an exchange, on a worker's thread if the scheme may block.
    ///
    /// - Throws: ``PluginError``, including at the request's deadline; `CancellationError`.
    func authorize(
        _ exchange: inout Exchange, token: LiveToken?, account: String, parameters: ParameterSet?,
        streamDigests: StreamDigests?
    ) async throws -> StateUse {
        try await recording("authorize", in: exchange.work) {
            guard mayBlock else {
                return try authorize(
                    &exchange.request, attempt: exchange.attempt, token: token, account: account, parameters: parameters,
                    streamDigests: streamDigests, work: exchange.work)
            }
            let (request, use) = try await onWorker("authorize", until: exchange.deadline) {
                [request = exchange.request, attempt = exchange.attempt, work = exchange.work] () throws(PluginError) in
                var request = request
                let use = try self.authorize(
                    &request, attempt: attempt, token: token, account: account, parameters: parameters,
                    streamDigests: streamDigests, work: work)
                return (request, use)
            }
            exchange.request = request
            return use
        }
    }

    func view(
        of request: borrowing HTTPRequest, _ attempt: Int, _ use: StateUse, _ parameters: ParameterSet?,
        _ streamDigests: StreamDigests? = nil
    ) -> RequestViewBuilder {
        RequestViewBuilder(
            of: request, for: target, needs, attempt: attempt, at: time(of: request), use, parameters, streamDigests)
    }

    private func time(of request: borrowing HTTPRequest) -> Int64 {
        clocks.isCorrecting ? clocks.nanoseconds(at: clockOrigin(of: request)) : clocks.wall.unixNanoseconds()
    }

    /// The origin whose clock counts for a request; nil for a proxy, since the `Date` of a response is not the proxy's.
    func clockOrigin(of request: borrowing HTTPRequest) -> Origin? {
        target == .proxy ? nil : request.origin
    }

    func place(of request: borrowing HTTPRequest, _ account: String) -> StatePlace {
        place(account: account, origin: request.origin)
    }
}
