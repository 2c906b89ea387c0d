internal import NevodPluginABI
internal import NevodSupport

/// A scheme with its settings, the place where its token is stored, and what its flows reach the world through: logs in and out,
/// and gives the interceptor that puts the token on requests.
///
/// ```swift
/// let session = SchemeSession(instance, storage: storage)
/// let provider = NetworkProvider(config: config, interceptor: session.interceptor)
/// ```
///
/// Everything that ``AuthenticationInterceptor`` promises holds for a plugin's token: it is the same mechanism.
public struct SchemeSession: Sendable {
    let instance: SchemeInstance
    let coordinator: TokenCoordinator<PluginToken>
    private let storage: TokenStorage<PluginToken>
    private let driver: FlowDriver
    private let shouldAuthenticate: @Sendable (HTTPRequest) -> Bool
    private let logger: (any NetworkLogger)?

    /// - Parameters:
    ///   - instance: for an origin, or for a proxy.
    ///   - storage: keeps the token.
    ///   - key: by default one for each scheme and the origins that its settings name; two accounts need two.
    ///   - session: sends the flows' requests.
    ///   - interaction: answers the flows' questions. Without one, a flow that asks fails, and says what it asked for.
    ///   - shouldAuthenticate: whether a request is one that the token is meant for.
    ///   - logger: is told what becomes of the token.
    public init(
        _ instance: SchemeInstance, storage: some KeyValueStorage, key: StorageKey? = nil,
        session: any HTTPTransport = CurlSession(), interaction: (any UserInteraction)? = nil,
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }, logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            instance, storage: storage, key: key, shouldAuthenticate: shouldAuthenticate, logger: logger,
            driver: FlowDriver(instance: instance, session: session, interaction: interaction))
    }

    init(
        _ instance: SchemeInstance, storage: some KeyValueStorage, key: StorageKey?,
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }, logger: (any NetworkLogger)? = nil,
        driver: FlowDriver
    ) {
        self.instance = instance
        self.storage = TokenStorage(storage: storage, key: key ?? instance.purpose.key)
        coordinator = self.storage.coordinator
        self.driver = driver
        self.shouldAuthenticate = shouldAuthenticate
        self.logger = logger
    }

    /// The stored token, and its changes.
    public var tokenStorage: TokenStorage<PluginToken> { storage }

    /// Puts the token on requests, after everything else in a chain.
    public var interceptor: SchemeInterceptor {
        SchemeInterceptor(self, shouldAuthenticate: shouldAuthenticate, logger: logger)
    }

    /// Obtains a token, and stores it in place of the one that may be there.
    ///
    /// - Throws: ``PluginError``; `CancellationError`; what the storage and the interaction throw.
    public func login() async throws {
        guard let token = try await driver.run(.login, keep: { try await coordinator.keep(token($0)) }) else {
            throw PluginError(instance.scheme.plugin, .unsupported(scheme: instance.scheme.id, what: "a login"))
        }
        try await coordinator.write(self.token(token))
    }

    /// Gives the token back to the server, if the scheme knows how, and clears it, whatever the server says.
    public func logout() async throws {
        let hasBegun = Locked(false)
        do {
            // What a renewal is about to store would be worth something still, and known to nobody who could give it back.
            try await coordinator.withRenewalLock { _ in
                hasBegun.withLock { $0 = true }
                try await giveBack()
            }
        } catch {
            if !hasBegun.withLock(\.self) { try await coordinator.write(nil) }
            throw error
        }
    }

    private func giveBack() async throws {
        let stored: PluginToken?
        do { stored = try await coordinator.read().token } catch is UnreadableTokenError {
            return try await coordinator.write(nil)
        }
        guard let stored else { return }
        guard stored.purpose == instance.purpose else { return try await coordinator.write(nil) }
        let result: Result<IssuedToken?, any Error>
        do { result = .success(try await driver.run(.logout, token: stored.issued, keep: { _ in })) } catch {
            result = .failure(error)
        }
        try await coordinator.write(nil)
        _ = try result.get()
    }

    /// Waits for a renewal that is under way, and until what it brought is saved: for a program that is about to end. A server
    /// that rotates has spent the old token by then.
    ///
    /// - Returns: false if a renewal goes on, or its token could not be saved.
    package func settle(until deadline: ContinuousClock.Instant) async -> Bool {
        _ = try? await coordinator.renewal.outcome(until: deadline)
        while coordinator.hasUnsaved, ContinuousClock.now < deadline {
            _ = try? await coordinator.read()
            if coordinator.hasUnsaved { try? await Task.sleep(for: .milliseconds(200)) }
        }
        return !coordinator.renewal.isRunning && !coordinator.hasUnsaved
    }

    var hasFlows: Bool { instance.scheme.hasFlows }

    func token(_ issued: IssuedToken) -> PluginToken { PluginToken(issued, of: instance) }

    /// Another token than the old one: by a refresh, or where that can't be, by a login.
    func renewed(_ old: PluginToken?) async throws -> PluginToken {
        let old = own(old)
        return try await withPluginErrors(renewing: old) {
            if let old, let token = try await refreshed(old) { return self.token(token) }
            return try await loggedIn()
        }
    }

    /// Another scheme's, or another server's, is no token of ours: no flow gets to see it.
    private func own(_ token: PluginToken?) -> PluginToken? {
        token?.purpose == instance.purpose ? token : nil
    }

    private func loggedIn() async throws -> PluginToken {
        guard let issued = try await driver.run(.login, keep: { try await coordinator.keep(token($0)) }) else {
            throw NetworkError.unauthorized
        }
        return token(issued)
    }

    /// Nil: a login is needed.
    private func refreshed(_ old: PluginToken) async throws -> IssuedToken? {
        do {
            return try await driver.run(.refresh, token: old.issued, keep: { try await coordinator.keep(token($0)) })
        } catch let error as PluginError where error.status == .badToken {
            return nil
        }
    }

    /// A token by way of the challenge in an answer, or where the scheme can do nothing with that, by a login.
    func challenged(_ old: PluginToken?, _ answer: FlowResponse, at origin: Origin) async throws -> PluginToken {
        let old = own(old)
        return try await withPluginErrors(renewing: old) {
            do {
                let issued = try await driver.run(
                    .challenge, token: old?.issued, answer: answer, at: origin, keep: { try await coordinator.keep(token($0)) })
                if let issued { return token(issued) }
            } catch let error as PluginError where error.status == .badToken {}
            return try await loggedIn()
        }
    }

    /// What an answer has made of the token that its request carried. Of several answers to one token the first counts, and while
    /// the token is being renewed, what comes of that.
    func adopt(_ issued: IssuedToken, replacing carried: TokenVersion) async throws {
        let (coordinator, instance, logger) = (coordinator, instance, logger)
        // In the place of a renewal, so that none begins meanwhile: it would spend the token that is replaced here.
        _ = try await coordinator.renewal.runIfIdle {
            do {
                let stored = try await coordinator.read()
                let token = PluginToken(issued.replacing(stored.token?.issued), of: instance)
                let isSaved = try await coordinator.adopt(token, replacing: carried)
                if !isSaved { logger?.error("a token of \(instance.scheme.id) could not be saved; it is kept in memory") }
                return .replaced
            } catch {
                return .failed(error)
            }
        }
    }

    /// A scheme's word in the host's terms: denied is for good, everything else for now. Where there is no token that could be
    /// refused, its own words say more.
    private func withPluginErrors(
        renewing old: PluginToken?, _ body: () async throws -> PluginToken
    ) async throws -> PluginToken {
        do { return try await body() } catch let error as PluginError where error.status == .denied && old != nil {
            throw RefreshRejectedError(error.description)
        }
    }
}

extension TokenPurpose {
    /// Where its token is stored, unless an embedder says otherwise.
    var key: StorageKey {
        StorageKey(value: "nevod.scheme.\(plugin).\(scheme)" + (origins.isEmpty ? "" : "@\(origins.joined(separator: ","))"))
    }
}

extension SchemeInstance {
    /// What an embedder adds to a chain: the scheme's token, stored there, obtained and renewed by its flows.
    public func interceptor(
        storage: some KeyValueStorage, key: StorageKey? = nil, interaction: (any UserInteraction)? = nil
    ) -> SchemeInterceptor {
        SchemeSession(self, storage: storage, key: key, interaction: interaction).interceptor
    }
}

extension PluginError {
    /// What the plugin's function returned, where that is the reason.
    var status: PluginStatus? {
        if case .failed(_, _, let status, _, _, _) = reason { PluginStatus(rawValue: status) } else { nil }
    }
}
