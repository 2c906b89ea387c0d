/// Puts the stored token on requests, and renews it when the server refuses it or its end is near.
///
/// However many requests meet a refused token, one exchange renews it, and all of them go on with the new one. Requests that
/// would carry a token under renewal wait for it. A 401 for a token that was replaced meanwhile costs no exchange. A failure
/// to renew reaches each request that waited once, and logs nobody out; only a server that refuses the renewal does (see
/// ``RefreshRejectedError``). A request is sent again once for a renewed token: a second 401 is its answer.
///
/// ```swift
/// let interceptor = AuthenticationInterceptor(
///     tokenStorage: storage,
///     refreshStrategy: { old in
///         guard let old else { throw NetworkError.unauthorized }
///         return try await refresh(old)
///     })
/// ```
public struct AuthenticationInterceptor<Token: TokenModel>: RequestInterceptor {
    /// Makes a new token of the stored one, nil where there is none. Runs once for all requests that need it at a time.
    public typealias RefreshStrategy = @Sendable (Token?) async throws -> Token

    let coordinator: TokenCoordinator<Token>
    private let refreshStrategy: RefreshStrategy
    private let shouldAuthenticate: @Sendable (HTTPRequest) -> Bool
    private let obtainsFirst: Bool
    private let isRefused: @Sendable (HTTPResponse) -> Bool
    let logger: (any NetworkLogger)?
    private let prepared: @Sendable (Token?) -> Token?
    private let isForProxy: Bool

    public var phase: TokenPhase { Token.phase }

    /// - Parameters:
    ///   - tokenStorage: where the token is kept. Interceptors with the same one share each renewal.
    ///   - refreshStrategy: gets the stored token, nil if there is none, and returns another one. It may send requests, through
    ///     the same provider as well; those carry the old token and don't wait. To say that there is no other token, it throws
    ///     ``NetworkError/unauthorized`` or returns the same: the stored one is kept, and the request ends with its 401. It is
    ///     never cancelled: what it has begun at the server can't be taken back.
    ///   - shouldAuthenticate: whether a request is one that the token is meant for.
    ///   - logger: is told what becomes of the token: renewed, refused, failed to be renewed, or renewed and not saved.
    public init(
        tokenStorage: TokenStorage<Token>, refreshStrategy: @escaping RefreshStrategy,
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true },
        logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            tokenStorage: tokenStorage, refreshStrategy: refreshStrategy, shouldAuthenticate: shouldAuthenticate,
            obtainsFirst: false, isRefused: { $0.status == 401 }, logger: logger)
    }

    /// - Parameters:
    ///   - obtainsFirst: whether, where no token is stored, one is obtained before the request is sent.
    ///   - prepared: makes of what is stored, nothing perhaps, what can authorise.
    ///   - isForProxy: the token is not an origin's, and so doesn't stay at one when redirects lead away from it.
    init(
        tokenStorage: TokenStorage<Token>, refreshStrategy: @escaping RefreshStrategy,
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool, obtainsFirst: Bool,
        isRefused: @escaping @Sendable (HTTPResponse) -> Bool, logger: (any NetworkLogger)?,
        prepared: @escaping @Sendable (Token?) -> Token? = { $0 }, isForProxy: Bool = false
    ) {
        coordinator = tokenStorage.coordinator
        self.refreshStrategy = refreshStrategy
        self.shouldAuthenticate = shouldAuthenticate
        self.obtainsFirst = obtainsFirst
        self.isRefused = isRefused
        self.logger = logger
        self.prepared = prepared
        self.isForProxy = isForProxy
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        guard mayAuthenticate(exchange) else { return }
        let stored = try await tokenToSend(exchange)
        exchange.bindings.bind(stored.version, of: ObjectIdentifier(coordinator))
        try await prepared(stored.token)?.write(on: &exchange)
    }

    /// Once more, after ``adapt(_:)`` has failed because what is stored is no token: another one takes its place.
    ///
    /// - Returns: false if there is none.
    func adaptAnew(_ exchange: inout Exchange) async throws -> Bool {
        guard try await renewToken(&exchange, by: refreshStrategy) else { return false }
        try await adapt(&exchange)
        return true
    }

    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        guard case .success(let response) = outcome, isRefused(response), mayAuthenticate(exchange) else { return false }
        return try await renewToken(&exchange, by: refreshStrategy)
    }

    /// Whether, now that the token which this request carried is refused, there is another one with which it is worth sending.
    func renewToken(_ exchange: inout Exchange, by strategy: @escaping RefreshStrategy) async throws -> Bool {
        let owner = ObjectIdentifier(coordinator)
        guard !coordinator.isWithinItsRenewal, let carried = exchange.bindings.version(of: owner) else { return false }
        if try await coordinator.read().version != carried { return exchange.bindings.countReplacement(owner) }
        guard exchange.bindings.countRenewal(owner) else { return false }
        var outcome = try await renewed(carried, isRefused: true, exchange, by: strategy)
        // That was a renewal ahead of time, which did not know of the refusal.
        if case .serving = outcome { outcome = try await renewed(carried, isRefused: true, exchange, by: strategy) }
        switch outcome {
        case .replaced: return true
        case .serving, .kept, .refused: return false
        case .failed(let error): throw NetworkError.authenticationFailed(error)
        }
    }

    private func mayAuthenticate(_ exchange: Exchange) -> Bool {
        (exchange.mayCarryCredentials || isForProxy) && shouldAuthenticate(exchange.request)
    }

    /// The token, after whatever renewal is under way or due.
    private func tokenToSend(_ exchange: Exchange) async throws -> StoredToken<Token> {
        guard !coordinator.isWithinItsRenewal else { return try await coordinator.read() }
        while coordinator.renewal.isFlying {
            let outcome = try await exchange.yieldingSlot {
                try await RenewalContext.waiting(for: ObjectIdentifier(coordinator)) {
                    try await coordinator.renewal.outcome(until: exchange.deadline)
                }
            }
            // A renewal that can't be waited for: the token goes as it is.
            guard let outcome else { break }
            if let outcome { try await check(outcome) }
        }
        let stored = try await coordinator.read()
        let isMissing = obtainsFirst && stored.token == nil
        guard isMissing || coordinator.isDue(stored.version) else { return stored }
        try await check(try await renewed(stored.version, isRefused: isMissing, exchange, by: refreshStrategy))
        return try await coordinator.read()
    }

    private func renewed(
        _ version: TokenVersion, isRefused: Bool, _ exchange: Exchange, by strategy: @escaping RefreshStrategy
    ) async throws -> RenewalOutcome {
        try await exchange.yieldingSlot {
            try await RenewalContext.waiting(for: ObjectIdentifier(coordinator)) {
                try await coordinator.renew(version, isRefused: isRefused, until: exchange.deadline, by: strategy, logger)
            } ?? .failed(RenewalCycleError())
        }
    }

    /// Whoever waited for a renewal shares its failure.
    private func check(_ outcome: RenewalOutcome) async throws {
        switch outcome {
        case .replaced, .serving: return
        // Nobody has refused the request that waits: it goes with what is stored, unless it can't go without a token.
        case .kept:
            guard obtainsFirst, prepared(nil) == nil, try await coordinator.read().token == nil else { return }
            throw NetworkError.unauthorized
        case .refused: throw NetworkError.unauthorized
        case .failed(let error): throw NetworkError.authenticationFailed(error)
        }
    }
}
