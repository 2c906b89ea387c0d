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
    let obtainsFirst: Bool
    let isRefused: @Sendable (HTTPResponse) -> Bool
    let logger: (any NetworkLogger)?
    let prepared: @Sendable (Token?) -> Token?
    private let isForProxy: Bool
    /// When the work began that this session's requests belong to, such as a command. A renewal that was refused after that
    /// counts for all of them. Nil if each request counts by itself.
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
    ///   - workBegan: when the work began that the requests belong to; by default each request counts by itself.
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
}
