internal import NevodPluginABI
internal import NevodSupport

/// An instance of a scheme with its settings. Owns the handle that `create` returned, and destroys it.
public final class SchemeInstance: Sendable {
    /// The instance's scheme.
    public let scheme: Scheme
    /// The recipient of its credential.
    public let target: SchemeTarget
    let needs: SchemeNeeds
    let clocks: ServerClocks
    let flowOrigins: FlowOrigins
    private let defaultParameters: Result<ParameterSet?, PluginError>
    /// The scheme and servers that its tokens are issued for.
    package let purpose: TokenPurpose
    /// A digest of the given settings, without the secrets. Because the settings may name a user or a client, the digest keeps
    /// one user from finding another user's token.
    package let settingsDigest: String
    let provenance: Provenance
    let services: HostServices
    let workers: SchemeWorkers
    private let states = Locked(SchemeStates())
    /// The contract allows concurrent use from any thread.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?

    init(
        _ scheme: Scheme, _ values: [(name: String, value: SchemeSettings.Value)], settingsDigest: String, target: SchemeTarget,
        clock: HostClock, workers: SchemeWorkers, log: @escaping PluginLog
    ) throws(PluginError) {
        self.scheme = scheme
        self.workers = workers
        self.target = target
        self.settingsDigest = settingsDigest
        clocks = ServerClocks(clock)
        services = HostServices(of: scheme.called, secrets: SettingSecrets(values, of: scheme.settings), log: log)
        provenance = .scheme(scheme.id)
        flowOrigins = FlowOrigins(values, of: scheme)
        purpose = TokenPurpose(
            plugin: scheme.pluginName, scheme: scheme.id, origins: flowOrigins.named.map(\.description).sorted())
        defaultParameters = Result { () throws(PluginError) in try scheme.parameterSet(of: [:]) }
        handle = try Self.create(scheme, values, services)
        do throws(PluginError) {
            needs =
                if let find = scheme.table.pointee.needs,
                    let table = PluginCall.run("needs", services, { [handle] _ in find(handle) })
                {
                    try SchemeNeeds(table, of: scheme)
                } else {
                    SchemeNeeds()
                }
        } catch {
            Self.destroy(handle, of: scheme, services)
            throw error
        }
    }

    deinit {
        Self.destroy(handle, of: scheme, services)
    }

    private static func destroy(_ handle: UnsafeMutableRawPointer?, of scheme: Scheme, _ services: HostServices) {
        PluginCall.run("destroy", services) { _ in scheme.table.pointee.destroy(handle) }
    }

    /// Whether ``token`` is enough to authorize requests: the scheme has no flows, and sees no responses.
    package var authorizesAlone: Bool { !scheme.hasFlows && !needs.anyResponse }

    private static func create(
        _ scheme: Scheme, _ values: [(name: String, value: SchemeSettings.Value)], _ services: HostServices
    ) throws(PluginError) -> UnsafeMutableRawPointer? {
        // One block for all names and values, wiped afterwards, since it contains secrets.
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
            return PluginCall.run("create", services, errors: &errors) { sinks in
                scheme.table.pointee.create(
                    scheme.table, services.table, pairs, UInt32(pairs.count), &instance, sinks.errors)
            }
        }
        guard status == NEVOD_OK else { throw errors.error(status, in: .function("create"), of: scheme) }
        return instance
    }

    /// Checks a request's parameters that this scheme declares, and adds the defaults.
    ///
    /// - Returns: nil if the scheme declares none.
    func parameterSet(of given: SchemeParameters) throws(PluginError) -> ParameterSet? {
        given.isEmpty ? try defaultParameters.get() : try scheme.parameterSet(of: given)
    }

    /// Returns the state that flows and `on_response` have kept.
    func state(at place: StatePlace) -> Secret? {
        states.withLock { $0.state(at: place) }
    }

    func setState(_ state: Secret, at place: StatePlace) {
        states.withLock { $0.set(state, at: place) }
    }

    func place(account: String, origin: Origin?) -> StatePlace {
        StatePlace(account: account, origin: target == .proxy ? nil : origin)
    }

    func nextUse(at place: StatePlace) -> StateUse {
        states.withLock { $0.use(at: place) }
    }

    /// Replaces the state unless it has changed since `use`. A scheme that doesn't see the state can't have used an old one.
    func replaceState(of use: StateUse, with state: Secret, at place: StatePlace) {
        states.withLock { $0.replace(needs.state ? use.state : $0.state(at: place), with: state, at: place) }
    }
}

extension SchemeInstance: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(scheme.id) of \(scheme.plugin)" }
    public var customMirror: Mirror { Mirror(self, children: ["scheme": scheme.id]) }
}
