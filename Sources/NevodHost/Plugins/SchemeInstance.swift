internal import COpenSSL
internal import NevodPluginABI
internal import NevodSupport

/// A scheme with its settings: what `create` made, until it is destroyed.
public final class SchemeInstance: Sendable {
    /// Whose code it runs.
    public let scheme: Scheme
    /// Whom its credential is for.
    public let target: SchemeTarget
    let needs: SchemeNeeds
    let clock: HostClock
    let flowOrigins: FlowOrigins
    /// What its tokens are issued for.
    package let purpose: TokenPurpose
    let provenance: Provenance
    private let services: HostServices
    private let states = Locked(SchemeStates())
    /// The contract lets any thread use it, many at once.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?

    init(
        _ scheme: Scheme, _ values: [(name: String, value: SchemeSettings.Value)], target: SchemeTarget, clock: HostClock,
        log: @escaping PluginLog
    ) throws(PluginError) {
        self.scheme = scheme
        self.target = target
        self.clock = clock
        services = HostServices(log: log)
        provenance = .scheme(scheme.id)
        flowOrigins = FlowOrigins(values, of: scheme)
        purpose = TokenPurpose(
            plugin: scheme.pluginName, scheme: scheme.id, origins: flowOrigins.named.map(\.description).sorted())
        handle = try Self.create(scheme, values, services)
        do throws(PluginError) {
            needs =
                if let table = scheme.table.pointee.needs?(handle) {
                    try SchemeNeeds(table, of: scheme)
                } else {
                    SchemeNeeds()
                }
        } catch {
            scheme.table.pointee.destroy(handle)
            throw error
        }
    }

    deinit {
        scheme.table.pointee.destroy(handle)
    }

    /// Whether ``token`` is all that it takes to authorise: there are no flows, and the scheme sees no answers.
    public var authorizesAlone: Bool { !scheme.hasFlows && !needs.anyResponse }

    private static func create(
        _ scheme: Scheme, _ values: [(name: String, value: SchemeSettings.Value)], _ services: HostServices
    ) throws(PluginError) -> UnsafeMutableRawPointer? {
        // One block for all names and values, wiped afterwards: secrets are among them.
        var block: [UInt8] = []
        block.reserveCapacity(
            values.reduce(0) { total, entry in
                switch entry.value {
                case .text(let text): total + entry.name.utf8.count + text.utf8.count
                case .secret(let secret): total + entry.name.utf8.count + secret.count
                }
            })
        defer { block.withUnsafeMutableBytes { $0.wipe() } }
        var ends: [(name: Int, value: Int)] = []
        for (name, value) in values {
            block.append(contentsOf: name.utf8)
            let nameEnd = block.count
            switch value {
            case .text(let text): block.append(contentsOf: text.utf8)
            case .secret(let secret): secret.withUnsafeBytes { block.append(contentsOf: $0) }
            }
            ends.append((nameEnd, block.count))
        }
        var instance: UnsafeMutableRawPointer?
        var errors = ErrorSink()
        let status = block.withUnsafeBufferPointer { block in
            var start = 0
            let pairs = ends.map { end in
                let pair = nevod_pair(
                    name: nevod_bytes(UnsafeBufferPointer(rebasing: block[start..<end.name])),
                    value: nevod_bytes(UnsafeBufferPointer(rebasing: block[end.name..<end.value])))
                start = end.value
                return pair
            }
            return errors.withTable { errors in
                scheme.table.pointee.create(
                    scheme.table, services.table, pairs, UInt32(pairs.count), &instance, errors)
            }
        }
        guard status == NEVOD_OK else { throw errors.error(status, in: "create", of: scheme) }
        return instance
    }

    /// Puts the credential on a request, whose every other line is written already. All edits are applied, or none.
    ///
    /// - Parameters:
    ///   - attempt: 1 for the first sending.
    ///   - token: what the scheme made of a stored token; nil for one whose settings are its credential.
    ///   - account: whose token it is.
    ///   - streamDigests: of a body that is a stream, if the scheme needs them and they can be had.
    /// - Returns: the state that the scheme was shown, for `on_response`.
    @discardableResult
    func authorize(
        _ request: inout HTTPRequest, attempt: Int, token: LiveToken? = nil, account: String = "",
        streamDigests: StreamDigests? = nil
    ) throws(PluginError) -> StateUse {
        let use = needs.useCount || needs.state ? nextUse(at: place(of: request, account)) : StateUse()
        let outcome = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { memory -> Result<Void, PluginError> in
            var edits = EditSink(memory, target: target)
            var errors = ErrorSink()
            let status = edits.withTable { edits in
                errors.withTable { errors in
                    withView(of: request, attempt, use, streamDigests) { view in
                        scheme.table.pointee.authorize(handle, token?.handle, view, edits, errors)
                    }
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

    /// Shows the scheme the answer to a request that it authorised.
    ///
    /// - Returns: also the token that it wants kept instead of the one that the request carried.
    func verdict(
        on response: FlowResponse, to request: HTTPRequest, attempt: Int, _ use: SchemeUse
    ) throws(PluginError) -> (Verdict, kept: IssuedToken?) {
        guard let judge = scheme.table.pointee.on_response else { return (.nothing, nil) }
        let lent = BorrowedBytes()
        var actions = ActionSink(provenance: provenance)
        var table = response.table(lent)
        let result = actions.withTable { actions in
            withView(of: request, attempt, use.state, nil) { view in judge(handle, use.token?.handle, view, &table, actions) }
        }
        withExtendedLifetime(lent) {}
        var fault = actions.problem
        var kept: IssuedToken?
        switch actions.action {
        case .keep(let token): kept = token
        case .some: fault = fault ?? "on_response may call set_state and keep, and nothing else"
        case nil: break
        }
        guard fault == nil, let verdict = Verdict(rawValue: result) else {
            throw PluginError(
                scheme.plugin,
                .flowFault(scheme: scheme.id, flow: "on_response", problem: fault ?? "it answered with the verdict \(result)"))
        }
        if let state = actions.state {
            // Who was not shown the state can't have used an old one.
            let place = place(of: request, use.account)
            states.withLock { $0.replace(needs.state ? use.state.state : $0.state(at: place), with: state, at: place) }
        }
        return (verdict, kept)
    }

    /// Builds the contract's view of a request on the stack: it borrows, and copies nothing.
    private func withView(
        of request: borrowing HTTPRequest, _ attempt: Int, _ use: StateUse, _ streamDigests: StreamDigests?,
        _ body: (UnsafePointer<nevod_view>) -> Int32
    ) -> Int32 {
        var view = nevod_view()
        view.struct_size = UInt32(MemoryLayout<nevod_view>.size)
        view.target_kind = target.kind
        view.scheme = request.origin.scheme == .https ? nevod_bytes("https") : nevod_bytes("http")
        let content = target == .proxy ? .none : request.body
        view.body_kind = content.kind
        view.body_length = content.length.map(UInt64.init) ?? UInt64.max
        view.attempt = UInt32(attempt)
        view.unix_time_ns = clock.unixNanoseconds()
        if needs.useCount { view.use_count = use.count }
        // Taken out one by one: a closure that captured the request would copy all of it.
        let headers = request.headers
        let (method, authority, target) = requestLine(of: request)
        return withBytes(method) { method in
            view.method = method
            return withBytes(authority) { authority in
                view.authority = authority
                return withBytes(target) { target in
                    view.target = target
                    return withHeaders(headers) { headers in
                        view.headers = headers.baseAddress
                        view.header_count = UInt32(headers.count)
                        return withBody(content, streamDigests) { content, digests in
                            view.body = content
                            view.digests = digests.baseAddress
                            view.digest_count = UInt32(digests.count)
                            return withRandom { random in
                                view.random = random
                                return withState(use) { state in
                                    view.state = state
                                    return withUnsafePointer(to: &view, body)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What flows and `on_response` have kept.
    func state(at place: StatePlace) -> Secret? {
        states.withLock { $0.state(at: place) }
    }

    func setState(_ state: Secret, at place: StatePlace) {
        states.withLock { $0.set(state, at: place) }
    }

    private func place(of request: borrowing HTTPRequest, _ account: String) -> StatePlace {
        place(account: account, origin: request.origin)
    }

    func place(account: String, origin: Origin?) -> StatePlace {
        StatePlace(account: account, origin: target == .proxy ? nil : origin)
    }

    /// As whoever the credential is for will see it: a proxy, either in the absolute form, or asked for a tunnel (RFC 9112 §3.2).
    private func requestLine(of request: borrowing HTTPRequest) -> (method: String, authority: String, target: String) {
        switch (target, request.origin.scheme) {
        case (.origin, _): return (request.method.rawValue, request.origin.authority, request.target)
        case (.proxy, .http): return (request.method.rawValue, request.origin.authority, request.url)
        case (.proxy, .https):
            let origin = request.origin
            let isDefault = origin.port == origin.scheme.defaultPort
            let authority = isDefault ? "\(origin.authority):\(origin.port)" : origin.authority
            return ("CONNECT", authority, authority)
        }
    }

    private func nextUse(at place: StatePlace) -> StateUse {
        states.withLock { $0.use(at: place) }
    }

    private func withState(_ use: StateUse, _ body: (nevod_bytes) -> Int32) -> Int32 {
        guard needs.state, let state = use.state else { return body(.empty) }
        return state.withUnsafeBytes { body(nevod_bytes($0)) }
    }

    private func withHeaders(_ headers: HTTPHeaders, _ body: (UnsafeBufferPointer<nevod_pair>) -> Int32) -> Int32 {
        guard needs.headers, target == .origin else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
        return headers.storage.withUnsafeBufferPointer { storage in
            withUnsafeTemporaryAllocation(of: nevod_pair.self, capacity: headers.lines.count) { pairs in
                for (index, line) in headers.lines.enumerated() {
                    pairs.initializeElement(
                        at: index,
                        to: nevod_pair(
                            name: nevod_bytes(UnsafeBufferPointer(rebasing: storage[line.name])),
                            value: line.valueCount == 0
                                ? .empty : nevod_bytes(UnsafeBufferPointer(rebasing: storage[line.value]))))
                }
                return body(UnsafeBufferPointer(pairs))
            }
        }
    }

    private func withBody(
        _ content: HTTPBody, _ streamDigests: StreamDigests?,
        _ body: (nevod_bytes, UnsafeBufferPointer<nevod_pair>) -> Int32
    ) -> Int32 {
        let none = UnsafeBufferPointer<nevod_pair>(start: nil, count: 0)
        switch content {
        case .none: return body(.empty, none)
        case .bytes(let bytes):
            return bytes.withUnsafeBufferPointer { bytes in
                let shown = needs.body ? nevod_bytes(bytes) : .empty
                return bytes.isEmpty || needs.digests.isEmpty ? body(shown, none) : withDigests(of: bytes) { body(shown, $0) }
            }
        case .stream(let stream):
            guard let streamDigests, stream.length != 0 else { return body(.empty, none) }
            let values = streamDigests.values
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(1, values.count * DigestAlgorithm.largestSize)) {
                memory in
                withUnsafeTemporaryAllocation(of: nevod_pair.self, capacity: max(1, values.count)) { pairs in
                    for (index, (algorithm, value)) in values.enumerated() {
                        let place = UnsafeMutableBufferPointer(
                            rebasing: memory[
                                index * DigestAlgorithm.largestSize..<index * DigestAlgorithm.largestSize + value.count])
                        _ = place.initialize(fromContentsOf: value)
                        pairs.initializeElement(
                            at: index,
                            to: nevod_pair(name: nevod_bytes(algorithm.name), value: nevod_bytes(UnsafeBufferPointer(place))))
                    }
                    return body(.empty, UnsafeBufferPointer(rebasing: pairs[..<values.count]))
                }
            }
        }
    }

    private func withDigests(
        of content: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<nevod_pair>) -> Int32
    ) -> Int32 {
        let size = DigestAlgorithm.largestSize
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: needs.digests.count * size) { memory in
            withUnsafeTemporaryAllocation(of: nevod_pair.self, capacity: needs.digests.count) { pairs in
                for (index, algorithm) in needs.digests.enumerated() {
                    let place = UnsafeMutableBufferPointer(rebasing: memory[index * size..<index * size + algorithm.size])
                    guard let digest = BodyDigest(algorithm), digest.update(content), digest.finish(into: place) else {
                        return Int32(NEVOD_INTERNAL)
                    }
                    pairs.initializeElement(
                        at: index,
                        to: nevod_pair(name: nevod_bytes(algorithm.name), value: nevod_bytes(UnsafeBufferPointer(place))))
                }
                return body(UnsafeBufferPointer(pairs))
            }
        }
    }

    private func withRandom(_ body: (nevod_bytes) -> Int32) -> Int32 {
        guard needs.random else { return body(.empty) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { memory in
            guard RAND_bytes(memory.baseAddress, Int32(memory.count)) == 1 else { return Int32(NEVOD_INTERNAL) }
            return body(nevod_bytes(UnsafeBufferPointer(memory)))
        }
    }
}

extension SchemeInstance: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(scheme.id) of \(scheme.plugin)" }
    public var customMirror: Mirror { Mirror(self, children: ["scheme": scheme.id]) }
}

extension HTTPBody {
    fileprivate var kind: Int32 {
        switch self {
        case .none: Int32(NEVOD_BODY_NONE)
        case .bytes(let bytes): Int32(bytes.isEmpty ? NEVOD_BODY_NONE : NEVOD_BODY_BYTES)
        case .stream(let stream): Int32(stream.length == 0 ? NEVOD_BODY_NONE : NEVOD_BODY_STREAM)
        }
    }
}
