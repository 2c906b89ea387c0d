/// Puts the stored token on requests, and renews it when the server refuses it or it is about to expire.
///
/// - Concurrent requests with a refused token share one renewal, and are then all sent again with the new token.
/// - Requests that would carry a token under renewal wait for the renewal.
/// - A 401 for a token that was replaced meanwhile causes no renewal: the request is sent again with the stored token.
/// - If a renewal fails, each waiting request fails, and the stored token stays. Only a server that refuses the renewal ends
///   the session (see ``RefreshRejectedError``).
/// - A request is sent again once for a renewed token; a second 401 is returned to the caller.
///
/// ```swift
/// let interceptor = AuthenticationInterceptor(
///     tokenStorage: storage,
///     refreshStrategy: { old in
///         guard let old else { throw NetworkError.unauthorized }
///         return try await refresh(old)
///     })
/// ```
public struct AuthenticationInterceptor<Token: TokenModel>: CredentialInterceptor {
    /// Receives the stored token, or nil if none is stored, and returns a new one. Concurrent requests share one call.
    public typealias RefreshStrategy = @Sendable (Token?) async throws -> Token

    let coordinator: TokenCoordinator<Token>
    let refreshStrategy: RefreshStrategy
    /// Returns the strategy for a renewal on behalf of a request; nil if it is the same for all.
    private let strategyForRequest: (@Sendable (HTTPRequest) -> RefreshStrategy)?
    private let shouldAuthenticate: @Sendable (HTTPRequest) -> Bool
    private let obtainsFirst: Bool
    let isRefused: @Sendable (HTTPResponse) -> Bool
    let logger: (any NetworkLogger)?
    private let prepared: @Sendable (Token?) -> Token?
    private let isForProxy: Bool
    /// The start of work whose requests count as one, such as a command's; nil if each request counts by itself.
    let workBegan: ContinuousClock.Instant?
    public let provides: Set<AuthRequirement>

    public var phase: TokenPhase { Token.phase }

    /// Whether the token is a plugin's.
    public var mayBlock: Bool { Token.self is PluginToken.Type }

    /// - Parameters:
    ///   - tokenStorage: stores the token. Interceptors with the same storage share each renewal.
    ///   - refreshStrategy: receives the stored token, or nil if none is stored, and returns another one. It may send requests,
    ///     even through the same provider; they carry the old token and don't wait. If there is no other token, it throws
    ///     ``NetworkError/unauthorized`` or returns the same token: the stored one is kept, and the request's 401 is returned
    ///     to the caller. The strategy is never cancelled, since an exchange that it has begun at the server can't be undone.
    ///   - shouldAuthenticate: returns whether a request may carry the token.
    ///   - provides: the requirements of routes that the token meets.
    ///   - logger: receives a line for each renewal: succeeded, refused, failed, or succeeded but not saved.
    public init(
        tokenStorage: TokenStorage<Token>, refreshStrategy: @escaping RefreshStrategy,
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true },
        provides: Set<AuthRequirement> = [Token.requirement], logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            tokenStorage: tokenStorage, refreshStrategy: refreshStrategy, shouldAuthenticate: shouldAuthenticate,
            obtainsFirst: false, isRefused: { $0.status == 401 }, logger: logger, provides: provides)
    }

    /// Creates an interceptor for the requests that a filter selects, such as all requests to a service:
    /// `shouldAuthenticate: .domains(Service.api)`.
    public init(
        tokenStorage: TokenStorage<Token>, refreshStrategy: @escaping RefreshStrategy, shouldAuthenticate: RequestFilter,
        provides: Set<AuthRequirement> = [Token.requirement], logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            tokenStorage: tokenStorage, refreshStrategy: refreshStrategy,
            shouldAuthenticate: { shouldAuthenticate.matches($0) }, provides: provides, logger: logger)
    }

    /// - Parameters:
    ///   - strategyForRequest: the strategy for a renewal on behalf of a request; by default `refreshStrategy`.
    ///   - obtainsFirst: whether to obtain a token before sending a request if none is stored.
    ///   - prepared: returns the token to authorize with, given the stored one, or nil if none is stored.
    ///   - isForProxy: whether the token is for the proxy. It is then kept when a redirect leaves the origin.
    ///   - workBegan: the start of work whose requests count as one; by default each request counts by itself.
    init(
        tokenStorage: TokenStorage<Token>, refreshStrategy: @escaping RefreshStrategy,
        strategyForRequest: (@Sendable (HTTPRequest) -> RefreshStrategy)? = nil,
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool, obtainsFirst: Bool,
        isRefused: @escaping @Sendable (HTTPResponse) -> Bool, logger: (any NetworkLogger)?,
        provides: Set<AuthRequirement>, prepared: @escaping @Sendable (Token?) -> Token? = { $0 }, isForProxy: Bool = false,
        workBegan: ContinuousClock.Instant? = nil
    ) {
        coordinator = tokenStorage.coordinator
        self.refreshStrategy = refreshStrategy
        self.strategyForRequest = strategyForRequest
        self.shouldAuthenticate = shouldAuthenticate
        self.obtainsFirst = obtainsFirst
        self.isRefused = isRefused
        self.logger = logger
        self.prepared = prepared
        self.isForProxy = isForProxy
        self.workBegan = workBegan
        self.provides = provides
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        guard shouldCarryToken(exchange) else { return }
        if !isForProxy { exchange.hasCredential = true }
        let stored = try await tokenToSend(exchange)
        exchange.bindings.bind(stored.version, of: ObjectIdentifier(coordinator))
        try await prepared(stored.token)?.write(on: &exchange)
    }

    /// Renews the token and adapts the exchange again, after ``adapt(_:)`` has failed because the stored token is unusable.
    ///
    /// - Returns: false if no other token could be obtained.
    func renewAndAdapt(_ exchange: inout Exchange) async throws -> Bool {
        guard try await renewToken(&exchange, by: strategy(for: exchange)) else { return false }
        try await adapt(&exchange)
        return true
    }

    func strategy(for exchange: Exchange) -> RefreshStrategy {
        strategyForRequest?(exchange.request) ?? refreshStrategy
    }

    func shouldCarryToken(_ exchange: Exchange) -> Bool {
        (isForProxy || exchange.mayCarryCredentials && exchange.allows(provides)) && shouldAuthenticate(exchange.request)
    }

    /// The stored token, after waiting for a renewal that is under way or due.
    private func tokenToSend(_ exchange: Exchange) async throws -> StoredToken<Token> {
        guard !coordinator.isRenewedByCurrentTask else { return try await coordinator.read() }
        while coordinator.renewal.isRunning {
            let outcome = try await exchange.yieldingSlot {
                try await RenewalContext.waitForRenewal(of: ObjectIdentifier(coordinator)) {
                    try await coordinator.renewal.outcome(until: exchange.deadline)
                }
            }
            // Waiting would deadlock, so the request carries the stored token.
            guard let outcome else { break }
            if let outcome { try await throwIfFailed(outcome) }
        }
        let stored = try await coordinator.read()
        let isMissing = obtainsFirst && stored.token == nil
        guard isMissing || coordinator.isDue(stored.version) else { return stored }
        try await throwIfFailed(try await renew(stored.version, isRefused: isMissing, exchange, by: strategy(for: exchange)))
        return try await coordinator.read()
    }

    func renew(
        _ version: TokenVersion, isRefused: Bool, _ exchange: Exchange, by strategy: @escaping RefreshStrategy
    ) async throws -> RenewalOutcome {
        try await exchange.yieldingSlot {
            try await RenewalContext.waitForRenewal(of: ObjectIdentifier(coordinator)) {
                try await coordinator.renew(
                    version, isRefused: isRefused, since: began(exchange), until: exchange.deadline, by: strategy, logger)
            } ?? .failed(RenewalCycleError())
        }
    }

    /// Throws if the renewal that this request waited for has failed.
    func throwIfFailed(_ outcome: RenewalOutcome) async throws {
        switch outcome {
        case .replaced, .stillUsable: return
        // The waiting request itself was not refused. It is sent with the stored token, unless it needs one and none is stored.
        case .noReplacement:
            guard obtainsFirst, prepared(nil) == nil, try await coordinator.read().token == nil else { return }
            throw NetworkError.unauthorized
        case .refused(let reason) where coordinator.remembersRefusals: throw NetworkError.authorization(reason)
        case .refused: throw NetworkError.unauthorized
        case .failed(let error): throw NetworkError.authenticationFailed(error)
        }
    }
}

extension AuthenticationInterceptor {
    /// Renews the stored token if it has expired or is about to, as sending a request would. Requests and other callers share the
    /// renewal, which is never cancelled.
    ///
    /// - Returns: the token that is stored afterwards; nil if none is, for example because the server refused the renewal.
    /// - Throws: ``NetworkError/authenticationFailed(_:)`` if an expired token could not be renewed; it is kept. A failure to renew
    ///   a token that still works isn't thrown. The storage's errors; `CancellationError`.
    public func renewIfDue() async throws -> Token? {
        let stored = try await coordinator.read()
        guard let token = stored.token, !coordinator.isRenewedByCurrentTask,
            coordinator.isDue(stored.version) || coordinator.isExpired(token)
        else { return stored.token }
        let outcome = try await RenewalContext.waitForRenewal(of: ObjectIdentifier(coordinator)) {
            try await coordinator.renew(stored.version, isRefused: false, until: nil, by: refreshStrategy, logger)
        }
        switch outcome {
        case .failed(let error): throw NetworkError.authenticationFailed(error)
        case nil: throw NetworkError.authenticationFailed(RenewalCycleError())
        case .replaced, .stillUsable, .noReplacement, .refused: return try await coordinator.read().token
        }
    }
}
