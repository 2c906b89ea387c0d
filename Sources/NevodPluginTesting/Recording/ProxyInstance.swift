internal import NevodPluginABI
internal import NevodSupport

/// An instance that a ``PluginProxy`` passes calls to. The host's handle is a retained reference to it, until `destroy`.
final class ProxyInstance: SinkOwner {
    private let scheme: ProxyScheme
    private let number = ProxyScheme.nextNumber()
    // Written once, in `create`, before the host has the instance.
    nonisolated(unsafe) var handle: UnsafeMutableRawPointer?
    /// The host's services. The plugin gets ``services`` instead.
    private nonisolated(unsafe) let realServices: UnsafePointer<nevod_host>
    // Filled in `init`, and freed with this object.
    nonisolated(unsafe) let services: UnsafeMutablePointer<nevod_host>
    private let suffixes = Locked<UInt>(0)

    private var table: nevod_scheme { scheme.real.pointee }

    /// A token, a flow or a wrapping of the plugin, with its number.
    private final class Box {
        let number = ProxyScheme.nextNumber()
        let handle: UnsafeMutableRawPointer?
        init(_ handle: UnsafeMutableRawPointer?) { self.handle = handle }

        var opaque: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

        static func of(_ opaque: UnsafeRawPointer?) -> Box? {
            opaque.map { Unmanaged<Box>.fromOpaque($0).takeUnretainedValue() }
        }

        static func taken(_ opaque: UnsafeMutableRawPointer?) -> Box? {
            opaque.map { Unmanaged<Box>.fromOpaque($0).takeRetainedValue() }
        }
    }

    init(_ scheme: ProxyScheme, _ host: UnsafePointer<nevod_host>) {
        self.scheme = scheme
        realServices = host
        services = .allocate(capacity: 1)
        services.initialize(to: host.pointee)
        services.pointee.struct_size = UInt32(MemoryLayout<nevod_host>.size)
        services.pointee.host = Unmanaged.passUnretained(self).toOpaque()
        services.pointee.log = { host, level, message in ProxyInstance.of(host)?.log(level, message) }
        services.pointee.get_extension = { host, name in ProxyInstance.of(host)?.getExtension(name) ?? nil }
    }

    deinit {
        if let table = UnsafeMutablePointer<nevod_public_suffix>(bitPattern: suffixes.withLock { $0 }) { table.deallocate() }
        services.deallocate()
    }

    static func of(_ opaque: UnsafeMutableRawPointer?) -> ProxyInstance? {
        opaque.map { Unmanaged<ProxyInstance>.fromOpaque($0).takeUnretainedValue() }
    }

    static func taken(_ opaque: UnsafeMutableRawPointer?) -> ProxyInstance? {
        opaque.map { Unmanaged<ProxyInstance>.fromOpaque($0).takeRetainedValue() }
    }

    // The real host notices a kept sink, because its own sinks are not called.
    func result(of call: SinkCall, _ index: Int) -> Int32? { nil }
    func note(_ call: KeptSinkCall) {}

    func call(_ function: String, _ real: RealSinks, _ body: (SinkRecorder) -> Int32) -> ContractOutcome {
        let recorder = SinkRecorder.begin(function, self, real)
        let result = body(recorder)
        return recorder.end(result)
    }

    func record(_ function: RecordedCall.Function, _ outcome: ContractOutcome, needs: ContractNeeds? = nil) {
        scheme.options.record?(RecordedCall(instance: number, function: function, outcome: outcome, needs: needs))
    }

    private func record(_ function: RecordedCall.Function) {
        record(function, ContractOutcome(result: 0, sinks: [], faults: []))
    }

    // MARK: Services

    private func log(_ level: Int32, _ message: nevod_bytes) {
        realServices.pointee.log(realServices.pointee.host, level, message)
        guard let recorder = SinkRecorder.current(of: self) else { return }
        _ = recorder.take(recorder.read { .log(level: level, message: $0.bytes(message, "a log line")) })
    }

    private func getExtension(_ name: nevod_bytes) -> UnsafeRawPointer? {
        let found = realServices.pointee.get_extension(realServices.pointee.host, name)
        if let recorder = SinkRecorder.current(of: self) {
            _ = recorder.take(
                recorder.read { .getExtension(name: $0.bytes(name, "an extension's name")) }, otherwise: found == nil ? 0 : 1)
        }
        var reader = TableReader()
        guard let found, reader.bytes(name, "").elementsEqual("nevod.public-suffix/1".utf8) else { return found }
        let real = found.assumingMemoryBound(to: nevod_public_suffix.self)
        let own = Unmanaged.passUnretained(self).toOpaque()
        realSuffixes.withLock { $0 = UInt(bitPattern: real) }
        let place = suffixes.withLock { place in
            if place == 0 {
                let table = UnsafeMutablePointer<nevod_public_suffix>.allocate(capacity: 1)
                table.initialize(
                    to: nevod_public_suffix(
                        struct_size: UInt32(MemoryLayout<nevod_public_suffix>.size), reserved: 0, host: own,
                        is_public: { host, domain in ProxyInstance.of(host)?.isPublic(domain) ?? 1 }))
                place = UInt(bitPattern: table)
            }
            return place
        }
        return UnsafeRawPointer(bitPattern: place)
    }

    private let realSuffixes = Locked<UInt>(0)

    private func isPublic(_ domain: nevod_bytes) -> Int32 {
        guard let real = UnsafePointer<nevod_public_suffix>(bitPattern: realSuffixes.withLock { $0 }) else { return 1 }
        let result = real.pointee.is_public(real.pointee.host, domain)
        guard let recorder = SinkRecorder.current(of: self) else { return result }
        return recorder.take(recorder.read { .isPublicSuffix(domain: $0.bytes(domain, "a domain")) }, otherwise: result)
    }

    // MARK: Functions

    func destroy() {
        table.destroy(handle)
        record(.destroy)
    }

    func needs() -> UnsafePointer<nevod_needs>? {
        var found: UnsafePointer<nevod_needs>?
        var needs: ContractNeeds?
        let outcome = call("needs", RealSinks()) { recorder in
            found = table.needs?(handle)
            needs = found.map { found in recorder.read { ContractNeeds(found, &$0) } }
            return 0
        }
        record(.needs, outcome, needs: needs)
        return found
    }

    func decode(
        _ bytes: nevod_bytes, _ token: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ errors: UnsafePointer<nevod_errors>?
    ) -> Int32 {
        var reader = TableReader()
        let copy = reader.bytes(bytes, "a token")
        var made: UnsafeMutableRawPointer?
        let outcome = call("token_decode", RealSinks(errors: errors)) { recorder in
            withUnsafePointer(to: recorder.errors) { table.token_decode?(handle, bytes, &made, $0) ?? Int32(NEVOD_UNSUPPORTED) }
        }
        let box = Box(made)
        record(.tokenDecode(token: box.number, bytes: copy), outcome)
        if outcome.result == NEVOD_OK { token.pointee = box.opaque }
        return outcome.result
    }

    func freeToken(_ token: UnsafeMutableRawPointer?) {
        guard let box = Box.taken(token) else { return }
        table.token_free?(handle, box.handle)
        record(.tokenFree(token: box.number))
    }

    /// Returns the token for the plugin and its record.
    private func token(_ pointer: UnsafeRawPointer?) -> (UnsafeRawPointer?, RecordedCall.Token) {
        guard let pointer else { return (nil, .none) }
        if table.token_decode != nil, let box = Box.of(pointer) { return (UnsafeRawPointer(box.handle), .decoded(box.number)) }
        var reader = TableReader()
        let stored = reader.token(pointer.assumingMemoryBound(to: nevod_token.self))
        return (pointer, stored.map { .stored($0) } ?? .none)
    }

    /// Calls `body` with the view for the plugin.
    private func withView<Result>(
        _ view: UnsafePointer<nevod_view>, _ body: (UnsafePointer<nevod_view>) -> Result
    ) -> Result {
        guard scheme.options.unixTime != nil || scheme.options.random != nil else { return body(view) }
        var copy = view.pointee
        copy.unix_time_ns = scheme.options.unixTime ?? copy.unix_time_ns
        guard let random = scheme.options.random, copy.random.count > 0 else { return body(&copy) }
        return random.withUnsafeBufferPointer { random in
            copy.random = nevod_bytes(data: random.baseAddress, count: UInt64(random.count))
            return body(&copy)
        }
    }

    func authorize(
        _ token: UnsafeRawPointer?, _ view: UnsafePointer<nevod_view>, _ edits: UnsafePointer<nevod_edits>,
        _ errors: UnsafePointer<nevod_errors>
    ) -> Int32 {
        let (token, recorded) = self.token(token)
        return withView(view) { view in
            var reader = TableReader()
            let copy = reader.view(view)
            let outcome = call("authorize", RealSinks(errors: errors, edits: edits)) { recorder in
                withUnsafePointer(to: recorder.errors) { errors in
                    withUnsafePointer(to: recorder.edits) { edits in table.authorize(handle, token, view, edits, errors) }
                }
            }
            record(.authorize(recorded, copy), numbered(outcome))
            return outcome.result
        }
    }

    func respond(
        _ token: UnsafeRawPointer?, _ view: UnsafePointer<nevod_view>, _ response: UnsafePointer<nevod_response>,
        _ actions: UnsafePointer<nevod_actions>?, _ errors: UnsafePointer<nevod_errors>?
    ) -> Int32 {
        let (token, recorded) = self.token(token)
        return withView(view) { view in
            var reader = TableReader()
            let copy = reader.view(view)
            let seen = reader.response(response) ?? ContractResponse(0)
            let outcome = call("on_response", RealSinks(errors: errors, actions: actions)) { recorder in
                withUnsafePointer(to: recorder.errors) { errors in
                    withUnsafePointer(to: recorder.actions) { actions in
                        table.on_response?(handle, token, view, response, actions, errors) ?? 0
                    }
                }
            }
            record(.onResponse(recorded, copy, seen), outcome)
            return outcome.result
        }
    }

    func begin(
        _ kind: Int32, _ flow: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ errors: UnsafePointer<nevod_errors>?
    ) -> Int32 {
        var made: UnsafeMutableRawPointer?
        let outcome = call("flow_begin", RealSinks(errors: errors)) { recorder in
            withUnsafePointer(to: recorder.errors) { table.flow_begin?(handle, kind, &made, $0) ?? Int32(NEVOD_UNSUPPORTED) }
        }
        let box = Box(made)
        record(.flowBegin(flow: box.number, kind: kind), outcome)
        if outcome.result == NEVOD_OK { flow.pointee = box.opaque }
        return outcome.result
    }

    func step(
        _ flow: UnsafeMutableRawPointer?, _ event: UnsafePointer<nevod_event>, _ actions: UnsafePointer<nevod_actions>?,
        _ errors: UnsafePointer<nevod_errors>?
    ) -> Int32 {
        guard let box = Box.of(flow) else { return Int32(NEVOD_INTERNAL) }
        var copy = event.pointee
        copy.unix_time_ns = scheme.options.unixTime ?? copy.unix_time_ns
        let random = scheme.options.random
        return (random ?? []).withUnsafeBufferPointer { bytes in
            if random != nil { copy.random = nevod_bytes(data: bytes.baseAddress, count: UInt64(bytes.count)) }
            return withUnsafePointer(to: copy) { event in
                var reader = TableReader()
                let recorded = reader.event(event)
                let outcome = call("flow_step", RealSinks(errors: errors, actions: actions)) { recorder in
                    withUnsafePointer(to: recorder.errors) { errors in
                        withUnsafePointer(to: recorder.actions) { actions in
                            table.flow_step?(handle, box.handle, event, actions, errors) ?? Int32(NEVOD_UNSUPPORTED)
                        }
                    }
                }
                record(.flowStep(flow: box.number, recorded), outcome)
                return outcome.result
            }
        }
    }

    func freeFlow(_ flow: UnsafeMutableRawPointer?) {
        guard let box = Box.taken(flow) else { return }
        table.flow_free?(handle, box.handle)
        record(.flowFree(flow: box.number))
    }

    // MARK: Bodies

    /// The numbers of the host's wrappings. The host passes back the plugin's own pointers.
    private let wrappings = Locked<[UInt: Int]>([:])

    /// Replaces the pointers of wrappings with their numbers, because pointers differ in each run.
    private func numbered(_ outcome: ContractOutcome) -> ContractOutcome {
        let sinks = outcome.sinks.map { sink in
            guard case .wrapBody(let length, let pointer) = sink.call else { return sink }
            let number = number(ofWrapping: UnsafeMutableRawPointer(bitPattern: pointer))
            return SinkRecord(.wrapBody(length: length, wrapping: UInt(number)), result: sink.result)
        }
        return ContractOutcome(result: outcome.result, sinks: sinks, faults: outcome.faults)
    }

    private func number(ofWrapping wrapping: UnsafeMutableRawPointer?, isLast: Bool = false) -> Int {
        wrappings.withLock { wrappings in
            let key = UInt(bitPattern: wrapping)
            let number = wrappings[key] ?? ProxyScheme.nextNumber()
            wrappings[key] = isLast ? nil : number
            return number
        }
    }

    func piece(
        _ wrapping: UnsafeMutableRawPointer?, _ piece: nevod_bytes, _ isLast: Int32, _ output: UnsafePointer<nevod_output>?,
        _ errors: UnsafePointer<nevod_errors>?
    ) -> Int32 {
        var reader = TableReader()
        let copy = reader.bytes(piece, "a piece")
        let outcome = call("body_piece", RealSinks(errors: errors, output: output)) { recorder in
            withUnsafePointer(to: recorder.errors) { errors in
                withUnsafePointer(to: recorder.output) { output in
                    table.body_piece?(handle, wrapping, piece, isLast, output, errors) ?? Int32(NEVOD_UNSUPPORTED)
                }
            }
        }
        record(.bodyPiece(wrapping: number(ofWrapping: wrapping), piece: copy, isLast: isLast != 0), outcome)
        return outcome.result
    }

    func freeBody(_ wrapping: UnsafeMutableRawPointer?) {
        table.body_free?(handle, wrapping)
        record(.bodyFree(wrapping: number(ofWrapping: wrapping, isLast: true)))
    }
}
