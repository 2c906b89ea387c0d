/// Maintains a cookie session: logs in if there is none or it has expired, and stores the cookies that responses change.
///
/// All guarantees of ``AuthenticationInterceptor`` hold: concurrent requests wait for one login and share it. A session is not
/// refreshed but started anew, so the strategy doesn't receive the old session.
///
/// ```swift
/// let interceptor = CookieAuthenticationInterceptor(
///     cookieStorage: storage,
///     loginStrategy: { try await login(email, password) })
/// ```
public struct CookieAuthenticationInterceptor: CredentialInterceptor {
    private let authentication: AuthenticationInterceptor<CookieToken>

    public var provides: Set<AuthRequirement> { authentication.provides }

    /// - Parameters:
    ///   - cookieStorage: stores the session. Interceptors with the same storage share each login.
    ///   - loginStrategy: returns the cookies of a new session. If a login needs the user, it throws
    ///     ``NetworkError/unauthorized``, and requests fail with that error.
    ///   - shouldAuthenticate: returns whether a request may carry the session's cookies.
    ///   - isSessionOver: returns whether a response means that the session has expired: by default, status 401. Some servers
    ///     redirect to a login page instead: status 302, and that page's address in `Location`.
    ///   - provides: the requirements of routes that the session meets.
    ///   - logger: receives a line for each login, and for cookies that could not be saved.
    public init(
        cookieStorage: TokenStorage<CookieToken>, loginStrategy: @escaping @Sendable () async throws -> CookieToken,
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true },
        isSessionOver: @escaping @Sendable (HTTPResponse) -> Bool = { $0.status == 401 },
        provides: Set<AuthRequirement> = [CookieToken.requirement], logger: (any NetworkLogger)? = nil
    ) {
        authentication = AuthenticationInterceptor(
            tokenStorage: cookieStorage, refreshStrategy: { _ in try await loginStrategy() },
            shouldAuthenticate: shouldAuthenticate, obtainsFirst: true, isRefused: isSessionOver, logger: logger,
            provides: provides)
    }

    /// Creates an interceptor for the requests that a filter selects, such as all requests to a service:
    /// `shouldAuthenticate: .domains(Service.api)`.
    public init(
        cookieStorage: TokenStorage<CookieToken>, loginStrategy: @escaping @Sendable () async throws -> CookieToken,
        shouldAuthenticate: RequestFilter,
        isSessionOver: @escaping @Sendable (HTTPResponse) -> Bool = { $0.status == 401 },
        provides: Set<AuthRequirement> = [CookieToken.requirement], logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            cookieStorage: cookieStorage, loginStrategy: loginStrategy,
            shouldAuthenticate: { shouldAuthenticate.matches($0) }, isSessionOver: isSessionOver, provides: provides,
            logger: logger)
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        try await authentication.adapt(&exchange)
    }

    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        if try await authentication.retry(&exchange, after: outcome) { return true }
        guard case .success(let response) = outcome else { return false }
        // The request has succeeded at the server, so an error of the storage must not replace its response.
        do { try await authentication.coordinator.mergeCookies(of: response, to: exchange) } catch {
            authentication.logger?.error("the cookies set by a response could not be saved", ["error": "\(error)"])
        }
        return false
    }
}

extension TokenCoordinator<CookieToken> {
    /// Merges the cookies of a response into the stored session, if the request carried that session.
    fileprivate func mergeCookies(of response: HTTPResponse, to exchange: Exchange) async throws {
        guard exchange.mayCarryCredentials, response.headers.contains("Set-Cookie"),
            let carried = exchange.bindings.version(of: ObjectIdentifier(self))
        else { return }
        let stored = try await read()
        guard stored.version == carried, let token = stored.token,
            let merged = token.merging(setCookiesOf: response, to: exchange.request, now: clock.now),
            merged.isWorthSaving(over: token)
        else { return }
        _ = try await replace(carried, with: merged, .renewal)
    }
}

extension CookieToken {
    /// Whether anything has changed except for slightly later expiries. Some servers extend the session with each response, which
    /// must not cause a write each time.
    fileprivate func isWorthSaving(over old: CookieToken) -> Bool {
        func values(_ token: CookieToken) -> [[String]] { token.sessionCookies.map { [$0.name, $0.value, $0.domain, $0.path] } }
        guard values(self) == values(old) else { return true }
        return zip(sessionCookies, old.sessionCookies).contains { new, old in
            guard let expiry = new.expires, let oldExpiry = old.expires else { return new.expires != old.expires }
            return expiry < oldExpiry || expiry - oldExpiry >= .seconds(60)
        }
    }
}
