public import Foundation
public import NevodHost
internal import NevodStorage

/// Sends requests to one service, with and without the user's session, and returns typed successes and failures. (An
/// ``AuthenticatingHTTPClient``, in contrast, returns only decoded bodies; this client sends its requests through one.)
///
/// ```swift
/// let client = JWTAuthClient(baseURL: "https://api.example.com/v1", tokenProvider: tokenProvider)
/// let profile: SuccessResponse<Profile> = try await client.sendAuthenticated(.get("/user/profile"))
/// ```
///
/// - `send` sends an endpoint as it is: without a token, unless its `auth` asks for one.
/// - `sendAuthenticated` adds the access token. A token that has expired, or that the server refuses with 401, is renewed first,
///   once for all requests that need it. Without a stored session nothing is sent.
/// - If a renewal fails, for example without a network, the session stays. If the server refuses it, the session ends.
public struct JWTAuthClient: HTTPClient {
    /// The provider that sends the requests. Use it for what endpoints don't cover, such as downloads to a file.
    public let provider: NetworkProvider
    /// The tokens of the session.
    public let tokens: SessionTokens
    let base: AuthenticatingHTTPClient
    /// Never renews a token.
    let withoutRenewal: NetworkProvider
    let verification: TokenVerification?
    let preload = SingleFlight<Result<AuthTokens?, any Error>>()

    /// - Parameters:
    ///   - baseURL: the service's absolute URL. Tokens are sent to its origin only.
    ///   - tokenProvider: provides the tokens and renews them.
    ///   - validator: verifies each access token once: a new one before it is stored, a stored one before it is used. A token is
    ///     never sent if it isn't accepted, or if it can't be verified now, for example because the issuer's keys aren't known
    ///     yet and there is no network. The validator's introspection is not used. Nil to verify nothing.
    ///   - encoder: encodes bodies.
    ///   - decoder: decodes the bodies of successes and failures.
    ///   - timeout: the limit for all attempts and redirects of a request together; nil for none.
    ///   - retryPolicy: decides when a failed request is sent again.
    ///   - session: the transport.
    ///   - interceptors: further interceptors, which see each request before its token is added.
    ///   - logger: receives a line for each renewal and each retry.
    ///   - onSessionInvalidated: called once for each session that ends because the server refused to renew its tokens; see
    ///     ``AuthenticatingHTTPClient``.
    public init(
        baseURL: some URLRepresentation, tokenProvider: some TokenProvider, validator: TokenValidator? = nil,
        encoder: JSONEncoder = CodingDefaults.encoder, decoder: JSONDecoder = CodingDefaults.decoder,
        timeout: Duration? = .seconds(30), retryPolicy: RetryPolicy = .default,
        session: any HTTPTransport = CurlSession(), interceptors: [any RequestInterceptor] = [],
        logger: (any NetworkLogger)? = nil, onSessionInvalidated: (@Sendable () async -> Void)? = nil
    ) {
        tokens = tokenProvider.tokens
        verification = validator.map { TokenVerification($0) }
        let tokenProvider: any TokenProvider =
            if let validator { VerifyingTokenProvider(tokenProvider, validator: validator) } else { tokenProvider }
        base = AuthenticatingHTTPClient(
            baseURL: baseURL, tokenProvider: tokenProvider, encoder: encoder, decoder: decoder, timeout: timeout,
            retryPolicy: retryPolicy, session: session, interceptors: interceptors, logger: logger,
            onSessionInvalidated: onSessionInvalidated)
        provider = base.provider.replacing(
            interceptors: interceptors + [
                base.authentication, SessionRequirement(origin: base.origin, verification: verification),
            ])
        withoutRenewal = base.provider.replacing(
            interceptors: interceptors + [
                StoredTokenInterceptor(tokens: tokens, origin: base.origin),
                SessionRequirement(origin: base.origin, verification: verification),
            ])
    }
}

// MARK: The session

extension JWTAuthClient {
    /// Reads the stored session, without a request. Waits for ``preloadTokens()`` if that is under way.
    ///
    /// - Throws: the errors of the storage and of the validator.
    public func loadSession() async throws -> AuthSession {
        // Reads the storage only after waiting: by then, the session may have ended, or be another user's.
        _ = try await preload.outcome(until: nil)
        return AuthSession(try await verified(tokens.storage.load()))
    }

    private func verified(_ tokens: AuthTokens?) async throws -> AuthTokens? {
        if let tokens { try await verification?.verify(tokens.accessToken) }
        return tokens
    }

    /// Renews the access token if it has expired or is about to. Requests and other callers share the renewal.
    ///
    /// - Returns: the session that is stored afterwards: ``AuthSession/missing`` if none was stored, or if the server has refused
    ///   the renewal.
    /// - Throws: `NetworkError.authenticationFailed` if an expired token could not be renewed, for example without a network: the
    ///   session is kept. The storage's errors. `CancellationError` if the caller is cancelled: the renewal itself continues.
    @discardableResult
    public func refreshExpiredTokens() async throws -> AuthSession {
        AuthSession(try await verified(base.authentication.renewIfDue()))
    }

    /// Begins a new session with these tokens, as after a login.
    ///
    /// - Throws: the errors of the storage and of the validator.
    @discardableResult
    public func saveSession(_ tokens: AuthTokens) async throws -> AuthSession {
        try await verification?.verifyNew(tokens.accessToken)
        try await self.tokens.storage.save(tokens)
        return AuthSession(tokens)
    }

    /// Removes the session, as after a logout. A renewal or a login under way doesn't restore it.
    public func clearSession() async throws {
        try await tokens.storage.clear()
    }

    /// The session now, and after each change from now on: a login, a renewal, an end. Includes changes by other processes if the
    /// storage reports them. A slow reader gets only the latest session. The expiry of a token isn't reported by itself, but
    /// shows in the next change. A token that can't be read, or that the validator doesn't accept, is left out.
    public var sessions: AsyncStream<AuthSession> {
        let (storage, verification) = (tokens.storage, verification)
        // Starts observing before the first read, so that no change is missed.
        let changes = storage.changes
        let (stream, continuation) = AsyncStream.makeStream(of: AuthSession.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            var last: AuthSession?
            func report() async {
                // Reads the storage again for each change: after a newer session, a late report must not show an older one.
                do {
                    let tokens = try await storage.load()
                    if let tokens { try await verification?.verify(tokens.accessToken) }
                    let session = AuthSession(tokens)
                    if session != last { continuation.yield(session) }
                    last = session
                } catch {}
            }
            await report()
            for await _ in changes { await report() }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// Starts to read the tokens in the background, and to renew them if they have expired or are about to, so that the first
    /// request waits less or not at all. Meanwhile, another call does nothing, and ``loadSession()`` waits for the result.
    ///
    /// A failure is not kept: the next use of the tokens tries again. Cancelling the caller doesn't cancel the preloading.
    public func preloadTokens() {
        preload.start { [self] in
            do { return .success(try await verified(base.authentication.renewIfDue())) } catch { return .failure(error) }
        }
    }
}
