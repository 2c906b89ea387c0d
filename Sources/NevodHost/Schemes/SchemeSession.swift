internal import NevodPluginABI
internal import NevodSupport

/// Logs a plugin's scheme in and out, stores its token, and provides the interceptor that puts the token on requests.
///
/// ```swift
/// let session = SchemeSession(instance, storage: storage)
/// let provider = NetworkProvider(config: config, interceptor: session.interceptor)
/// ```
///
/// A plugin's token is renewed by the same mechanism as ``AuthenticationInterceptor``, with the same guarantees.
public struct SchemeSession: Sendable {
    let instance: SchemeInstance
    let coordinator: TokenCoordinator<PluginToken>
    private let storage: TokenStorage<PluginToken>
    private let driver: FlowDriver
    /// Shared by the sessions of all parameter sets.
    private let latestClient: LatestClient
    let latestRenewal = LatestRenewal()
    /// When a piece of work began, such as a command, whose requests count as one: if the server refuses to renew the token for
    /// one of them, the others don't try again. Nil if each request counts by itself.
    package var workBegan: ContinuousClock.Instant?
    let account: String
    let store: AnyKeyValueStorage
    let key: StorageKey
    let index: ParameterSetIndex
    /// Nil in the session of a set of parameters.
    let sessions: ParameterSessions?
    private let shouldAuthenticate: @Sendable (HTTPRequest) -> Bool
    private let provides: Set<AuthRequirement>
    let logger: (any NetworkLogger)?

    /// - Parameters:
    ///   - instance: the scheme with its settings; for an origin, or for a proxy.
    ///   - storage: stores the token.
    ///   - key: the token's key in the storage; by default made from the scheme, the origins that its settings name, and the
    ///     settings that are not secret. Two accounts with the same settings need two keys.
    ///   - account: the account that the user wants, which a flow gets at its start; may be empty.
    ///   - session: sends the requests of flows.
    ///   - interaction: answers the questions of flows. Without one, a flow that asks a question fails with
    ///     ``PluginError/Reason/unanswered(scheme:questions:)``.
    ///   - shouldAuthenticate: whether the token is meant for a request.
    ///   - provides: the requirements of routes that the token meets; by default the scheme's id, as in
    ///     `AuthRequirement("hmac")`.
    ///   - logger: receives events about the token, such as its renewal, and a line if the clock of a server that a flow sends to
    ///     differs from this machine's.
    public init(
        _ instance: SchemeInstance, storage: some KeyValueStorage, key: StorageKey? = nil, account: String = "",
        session: any HTTPTransport = CurlSession(), interaction: (any UserInteraction)? = nil,
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true },
        provides: Set<AuthRequirement>? = nil, logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            instance, storage: storage, key: key, account: account, shouldAuthenticate: shouldAuthenticate, provides: provides,
            logger: logger, driver: FlowDriver(instance: instance, session: session, interaction: interaction, logger: logger))
    }

    /// Creates a session for the requests that a filter selects, such as all requests to a service:
    /// `shouldAuthenticate: .domains(Service.api)`.
    public init(
        _ instance: SchemeInstance, storage: some KeyValueStorage, key: StorageKey? = nil, account: String = "",
        session: any HTTPTransport = CurlSession(), interaction: (any UserInteraction)? = nil,
        shouldAuthenticate: RequestFilter, provides: Set<AuthRequirement>? = nil, logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            instance, storage: storage, key: key, account: account, session: session, interaction: interaction,
            shouldAuthenticate: { shouldAuthenticate.matches($0) }, provides: provides, logger: logger)
    }

    init(
        _ instance: SchemeInstance, storage: some KeyValueStorage, key: StorageKey?, account: String = "",
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true },
        provides: Set<AuthRequirement>? = nil, logger: (any NetworkLogger)? = nil,
        driver: FlowDriver
    ) {
        self.instance = instance
        let key = key ?? instance.tokenKey
        self.key = key
        store = AnyKeyValueStorage(storage)
        self.storage = TokenStorage(storage: storage, key: key)
        coordinator = self.storage.coordinator
        index = ParameterSetIndex(store, key: StorageKey(value: "\(key.rawValue)?"), lock: coordinator.writing)
        sessions = ParameterSessions()
        latestClient = LatestClient()
        var driver = driver
        driver.parameters = try? instance.parameterSet(of: [:])
        self.driver = driver
        self.account = account
        self.shouldAuthenticate = shouldAuthenticate
        self.provides = provides ?? [instance.requirement]
        self.logger = logger
    }

    /// Makes the session of a set of parameters.
    private init(_ base: SchemeSession, _ set: ParameterSet) {
        instance = base.instance
        key = base.key
        store = base.store
        index = base.index
        sessions = nil
        latestClient = base.latestClient
        workBegan = base.workBegan
        storage = Self.storage(of: set, base.store, key: base.key, base.index)
        coordinator = storage.coordinator
        var driver = base.driver
        driver.parameters = set
        self.driver = driver
        account = base.account
        shouldAuthenticate = base.shouldAuthenticate
        provides = base.provides
        logger = base.logger
    }

    func with(_ set: ParameterSet) -> SchemeSession { SchemeSession(self, set) }

    /// The stored token, and its changes.
    public var tokenStorage: TokenStorage<PluginToken> { storage }

    /// An interceptor that puts the token on requests, after all others in a chain.
    public var interceptor: SchemeInterceptor {
        SchemeInterceptor(self, shouldAuthenticate: shouldAuthenticate, provides: provides, logger: logger)
    }

    /// Obtains a token, and stores it in place of any earlier one.
    ///
    /// - Throws: ``PluginError``; `CancellationError`; the errors of the storage and the interaction.
    public func login() async throws {
        let driver = driver(for: nil)
        guard let token = try await driver.run(.login, account: account, keep: { try await coordinator.keep(token($0)) }) else {
            throw PluginError(instance.scheme.plugin, .noFlow(scheme: instance.scheme.id, flow: FlowKind.login.name))
        }
        try await coordinator.write(self.token(token))
    }

    /// Waits until a renewal in progress has finished and its token is saved. Meant for a program that is about to exit: a server
    /// that rotates tokens no longer accepts the old one.
    ///
    /// - Returns: false if the renewal is still in progress at the deadline, or its token could not be saved.
    package func waitForRenewalAndSave(until deadline: ContinuousClock.Instant) async -> Bool {
        var isSaved = await waitForRenewalAndSaveOne(until: deadline)
        for session in sessions?.all ?? [] {
            isSaved = await session.waitForRenewalAndSaveOne(until: deadline) && isSaved
        }
        return isSaved
    }

    /// Waits for finished renewals to release their locks. Otherwise, other processes would wait for a holder that is gone. Meant
    /// for a program that is about to exit and doesn't wait for a renewal in progress.
    package func waitForRelease(until deadline: ContinuousClock.Instant) async {
        for session in [self] + (sessions?.all ?? []) where !session.coordinator.renewal.isRunning {
            await session.coordinator.waitForRelease(until: deadline)
        }
    }

    private func waitForRenewalAndSaveOne(until deadline: ContinuousClock.Instant) async -> Bool {
        _ = try? await coordinator.renewal.outcome(until: deadline)
        while coordinator.hasUnsaved, ContinuousClock.now < deadline {
            _ = try? await coordinator.read()
            if coordinator.hasUnsaved { try? await Task.sleep(for: .milliseconds(200)) }
        }
        await coordinator.waitForRelease(until: deadline)
        return !coordinator.renewal.isRunning && !coordinator.hasUnsaved
    }

    /// Whether the token is being renewed, or could not be saved yet.
    var isBusy: Bool { coordinator.renewal.isRunning || coordinator.hasUnsaved || coordinator.holdsLock }

    var hasFlows: Bool { instance.scheme.hasFlows }

    func token(_ issued: IssuedToken) -> PluginToken { PluginToken(issued, of: instance) }

    func driver(for client: ClientLines?) -> FlowDriver {
        var driver = driver
        driver.client = latestClient.lines(for: client)
        return driver
    }
}

extension PluginError {
    /// The status that the plugin's function returned, if that is the reason for the error.
    var status: PluginStatus? {
        if case .failed(_, _, let status, _, _, _) = reason { PluginStatus(rawValue: status) } else { nil }
    }
}
