/// Puts a plugin's token on requests, after all other interceptors, and shows the scheme the responses that it asked for.
public struct SchemeInterceptor: CredentialInterceptor {
    let session: SchemeSession
    public let provides: Set<AuthRequirement>
    let authentication: AuthenticationInterceptor<PluginToken>
    private let shouldAuthenticate: @Sendable (HTTPRequest) -> Bool

    /// A credential for the proxy is put on every request, even after a redirect to another origin.
    public var phase: TokenPhase { session.instance.target == .proxy ? .credential : .signature }

    public var mayBlock: Bool { true }

    init(
        _ session: SchemeSession, shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool,
        provides: Set<AuthRequirement>, logger: (any NetworkLogger)?
    ) {
        self.session = session
        // A route's requirement never means a proxy's credential.
        let provides = session.instance.target == .proxy ? [] : provides
        self.provides = provides
        self.shouldAuthenticate = shouldAuthenticate
        let instance = session.instance
        authentication = AuthenticationInterceptor(
            tokenStorage: session.tokenStorage, refreshStrategy: { try await session.renewed($0) },
            strategyForRequest: { request in
                let client = ClientLines(of: request)
                return { try await session.renewed($0, for: client) }
            },
            shouldAuthenticate: shouldAuthenticate, obtainsFirst: session.hasFlows,
            isRefused: { $0.status == instance.target.challengeStatus },
            logger: logger, provides: provides, prepared: { $0.map(instance.token) ?? instance.token },
            isForProxy: instance.target == .proxy, workBegan: session.workBegan)
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        guard let own = try interceptor(for: &exchange) else { return try await adaptWithOwnToken(&exchange) }
        try await own.adaptWithOwnToken(&exchange)
    }

    /// Returns the interceptor of the session that keeps the token for the exchange's parameters.
    ///
    /// - Returns: nil if it is this one.
    func interceptor(for exchange: inout Exchange) throws(NetworkError) -> SchemeInterceptor? {
        guard session.hasFlows, !session.instance.scheme.parameters.isEmpty, mayAuthenticate(exchange),
            let sessions = session.sessions
        else { return nil }
        let owner = ObjectIdentifier(sessions)
        // All attempts use the same interceptor, even if the session has forgotten the set meanwhile.
        if let chosen: SchemeInterceptor = exchange.bindings.attachment(of: owner) { return chosen }
        do throws(PluginError) {
            guard let set = try session.instance.parameterSet(of: exchange.schemeParameters), !set.isDefault else { return nil }
            let chosen = session.session(for: set).interceptor
            exchange.bindings.attach(chosen, of: owner)
            return chosen
        } catch {
            throw .plugin(error)
        }
    }

    private func adaptWithOwnToken(_ exchange: inout Exchange) async throws {
        guard session.hasFlows else {
            guard mayAuthenticate(exchange) else { return }
            if session.instance.target == .origin { exchange.hasCredential = true }
            return try await session.instance.token.write(on: &exchange)
        }
        try await namingStuckFlow {
            do { try await authentication.adapt(&exchange) } catch NetworkError.plugin(let error) where error.status == .badToken
            {
                // The plugin can't read the stored token, for example one of an older version. The request is unchanged.
                guard try await authentication.renewAndAdapt(&exchange) else { throw NetworkError.plugin(error) }
            }
        }
    }

    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        guard let own = try interceptor(for: &exchange) else { return try await retryWithOwnToken(&exchange, after: outcome) }
        return try await own.retryWithOwnToken(&exchange, after: outcome)
    }

    /// Runs `body`, which may wait for a renewal. If it times out while a step of this scheme's flow has not returned, the error
    /// names the step instead.
    private func namingStuckFlow<Success>(_ body: () async throws -> Success) async throws -> Success {
        do { return try await body() } catch NetworkError.timeout(let error) {
            throw session.instance.unreturnedFlow.map(NetworkError.plugin) ?? .timeout(error)
        }
    }

    private func retryWithOwnToken(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        guard case .success(let response) = outcome, mayAuthenticate(exchange),
            session.instance.target.isSource(ofStatus: response.status, for: exchange.request.origin)
        else { return false }
        if session.instance.needs.sees(response, to: exchange.request.method, from: session.instance.target),
            let shouldRetry = try await actOnVerdict(about: response, &exchange)
        {
            return shouldRetry
        }
        guard session.hasFlows else { return false }
        return try await namingStuckFlow { try await authentication.retry(&exchange, after: outcome) }
    }

    func mayAuthenticate(_ exchange: Exchange) -> Bool {
        (session.instance.target == .proxy || exchange.mayCarryCredentials && exchange.allows(provides))
            && shouldAuthenticate(exchange.request)
    }
}

extension SchemeInterceptor: ParameterTaking {
    var parameterDeclaring: (any ParameterDeclaring)? { session.instance.scheme }
}

extension SchemeInstance {
    /// Returns an interceptor that puts the scheme's token on requests. The token is kept in `storage`; the scheme's flows obtain
    /// and renew it. Short for the interceptor of a ``SchemeSession``.
    ///
    /// - Parameters:
    ///   - storage: stores the token.
    ///   - key: the token's key in the storage; by default made from the scheme, the origins that its settings name, and the
    ///     settings that are not secret.
    ///   - interaction: answers the questions of flows; without one, a flow that asks a question fails.
    ///   - shouldAuthenticate: selects the requests that carry the token, such as all requests to a service or to its origins.
    public func interceptor(
        storage: some KeyValueStorage, key: StorageKey? = nil, interaction: (any UserInteraction)? = nil,
        shouldAuthenticate: RequestFilter = .all
    ) -> SchemeInterceptor {
        SchemeSession(
            self, storage: storage, key: key, interaction: interaction, shouldAuthenticate: shouldAuthenticate
        ).interceptor
    }
}
