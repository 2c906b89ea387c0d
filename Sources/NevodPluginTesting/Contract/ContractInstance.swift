internal import NevodPluginABI
internal import NevodSupport

/// An instance that a scheme's `create` made. Destroyed by ``destroy()``, or with this object.
package final class ContractInstance: Sendable {
    /// The token that a call gets.
    package enum TokenArgument: Sendable {
        /// NULL.
        case none
        /// The `nevod_token`, for a scheme without `token_decode`.
        case stored(ContractToken)
        /// The result of ``ContractInstance/decode(_:)``.
        case decoded(DecodedToken)
    }

    package let host: ContractHost
    /// The contract allows use from any thread.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?
    // Read by the plugin alone.
    private nonisolated(unsafe) let services: InputArena
    private let isDestroyed = Locked<Bool>(false)
    private let latestSinks: Locked<SpentSinks>

    /// The tables of the latest calls. They stay in memory for a while, so that a plugin that has kept one is detected and doesn't
    /// crash.
    private struct SpentSinks: @unchecked Sendable {  // The arenas are only freed here, under the lock.
        var arenas: [InputArena] = []
    }

    private var scheme: nevod_scheme { host.scheme.pointee }

    init(_ host: ContractHost, _ handle: UnsafeMutableRawPointer?, _ services: InputArena, _ sinks: InputArena) {
        self.host = host
        self.handle = handle
        self.services = services
        let spent = SpentSinks(arenas: [sinks])
        latestSinks = Locked(spent)
    }

    deinit { destroy() }

    /// Calls `destroy`, once. All calls, flows and tokens of the instance must have finished.
    package func destroy() {
        let first = isDestroyed.withLock { isDestroyed in
            defer { isDestroyed = true }
            return !isDestroyed
        }
        if first { host.observed("destroy") { scheme.destroy(handle) } }
    }

    /// Calls a function with an arena for its inputs, and another for its sinks that outlives the call.
    private func call(
        _ function: String, _ body: (SinkRecorder, _ inputs: InputArena, _ sinks: InputArena) -> Int32
    ) -> ContractOutcome {
        let sinks = InputArena(host.options)
        let outcome = host.call(function, InputArena(host.options)) { recorder, inputs in body(recorder, inputs, sinks) }
        // Only kept so that it isn't freed; nothing reads it again.
        nonisolated(unsafe) let spent = sinks
        latestSinks.withLock { latest in
            latest.arenas.append(spent)
            if latest.arenas.count > 64 { latest.arenas.removeFirst() }
        }
        return outcome
    }

    /// Calls `needs`.
    ///
    /// - Returns: nil if the scheme lacks the function, or if the function returns NULL.
    package func needs() -> (needs: ContractNeeds?, faults: [String]) {
        guard let find = scheme.needs, let table = host.observed("needs", { find(handle) }) else { return (nil, []) }
        var reader = TableReader()
        let needs = ContractNeeds(table, &reader)
        return (needs, reader.faults)
    }

    /// Whether the scheme has `token_decode`.
    package var decodesTokens: Bool { scheme.token_decode != nil }

    /// Calls `token_decode`.
    ///
    /// - Returns: the token if the status is `NEVOD_OK`; `NEVOD_UNSUPPORTED` if the scheme has no such function.
    package func decode(_ bytes: [UInt8]) -> (DecodedToken?, ContractOutcome) {
        var token: UnsafeMutableRawPointer?
        let outcome = call("token_decode") { recorder, inputs, sinks in
            guard let decode = scheme.token_decode else { return Int32(NEVOD_UNSUPPORTED) }
            let errors = sinks.table(recorder.errors, .errors)
            let bytes = inputs.bytes(bytes)
            inputs.seal()
            sinks.seal()
            return decode(handle, bytes, &token, errors)
        }
        return (outcome.result == NEVOD_OK ? DecodedToken(token, of: self) : nil, outcome)
    }

    /// Calls `authorize`.
    package func authorize(_ token: TokenArgument = .none, _ view: ContractView) -> ContractOutcome {
        call("authorize") { recorder, inputs, sinks in
            let errors = sinks.table(recorder.errors, .errors)
            let edits = sinks.table(recorder.edits, .edits)
            let view = view.table(inputs)
            let token = pointer(token, inputs)
            inputs.seal()
            sinks.seal()
            return scheme.authorize(handle, token, view, edits, errors)
        }
    }

    /// Calls `on_response`; the outcome's result is the verdict.
    package func respond(_ token: TokenArgument = .none, _ view: ContractView, to response: ContractResponse) -> ContractOutcome {
        call("on_response") { recorder, inputs, sinks in
            guard let respond = scheme.on_response else { return Int32(NEVOD_VERDICT_NOTHING) }
            let errors = sinks.table(recorder.errors, .errors)
            let actions = sinks.table(recorder.actions, .actions)
            let view = view.table(inputs)
            let response = response.table(inputs)
            let token = pointer(token, inputs)
            inputs.seal()
            sinks.seal()
            return respond(handle, token, view, response, actions, errors)
        }
    }

    /// Whether the scheme has flows.
    package var hasFlows: Bool { scheme.flow_begin != nil }

    /// Whether the scheme has `on_response`.
    package var seesResponses: Bool { scheme.on_response != nil }

    /// Calls `flow_begin`.
    ///
    /// - Parameter kind: `NEVOD_FLOW_…`.
    /// - Returns: the flow if the status is `NEVOD_OK`.
    package func begin(_ kind: Int) -> (ContractFlow?, ContractOutcome) {
        var flow: UnsafeMutableRawPointer?
        let outcome = call("flow_begin") { recorder, _, sinks in
            guard let begin = scheme.flow_begin else { return Int32(NEVOD_UNSUPPORTED) }
            let errors = sinks.table(recorder.errors, .errors)
            sinks.seal()
            return begin(handle, Int32(clamping: kind), &flow, errors)
        }
        return (outcome.result == NEVOD_OK ? ContractFlow(flow, of: self) : nil, outcome)
    }

    func step(_ flow: UnsafeMutableRawPointer?, _ event: ContractEvent) -> ContractOutcome {
        call("flow_step") { recorder, inputs, sinks in
            guard let step = scheme.flow_step else { return Int32(NEVOD_UNSUPPORTED) }
            let errors = sinks.table(recorder.errors, .errors)
            let actions = sinks.table(recorder.actions, .actions)
            let event = event.table(inputs)
            inputs.seal()
            sinks.seal()
            return step(handle, flow, event, actions, errors)
        }
    }

    func free(flow: UnsafeMutableRawPointer?) { host.observed("flow_free") { scheme.flow_free?(handle, flow) } }
    func free(token: UnsafeMutableRawPointer?) { host.observed("token_free") { scheme.token_free?(handle, token) } }

    /// Calls `body_piece`.
    ///
    /// - Parameter wrapping: as in ``SinkCall/wrapBody(length:wrapping:)``.
    package func bodyPiece(_ wrapping: UInt, _ piece: [UInt8], isLast: Bool) -> ContractOutcome {
        call("body_piece") { recorder, inputs, sinks in
            guard let next = scheme.body_piece else { return Int32(NEVOD_UNSUPPORTED) }
            let errors = sinks.table(recorder.errors, .errors)
            let output = sinks.table(recorder.output, .output)
            let piece = inputs.bytes(piece)
            inputs.seal()
            sinks.seal()
            return next(handle, UnsafeMutableRawPointer(bitPattern: wrapping), piece, isLast ? 1 : 0, output, errors)
        }
    }

    /// Calls `body_free`. A host does it once for each wrapping.
    package func freeBody(_ wrapping: UInt) {
        host.observed("body_free") { scheme.body_free?(handle, UnsafeMutableRawPointer(bitPattern: wrapping)) }
    }

    private func pointer(_ token: TokenArgument, _ arena: InputArena) -> UnsafeRawPointer? {
        switch token {
        case .none: nil
        case .stored(let token): UnsafeRawPointer(token.table(arena))
        case .decoded(let token): UnsafeRawPointer(token.handle)
        }
    }
}

/// A token that `token_decode` returned; freed with this object. Keeps its instance alive.
package final class DecodedToken: Sendable {
    /// The contract allows use from any thread.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?
    let instance: ContractInstance

    init(_ handle: UnsafeMutableRawPointer?, of instance: ContractInstance) {
        self.handle = handle
        self.instance = instance
    }

    deinit { instance.free(token: handle) }
}
