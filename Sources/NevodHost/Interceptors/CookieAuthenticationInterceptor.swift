/// Keeps a session of cookies: logs in when there is none or it has ended, and takes over the cookies that answers set anew.
///
/// Everything that ``AuthenticationInterceptor`` promises holds here: one login, whoever needs it, and requests that wait for
/// it. A session is not refreshed but begun again, so the strategy isn't given the old one.
///
/// ```swift
/// let interceptor = CookieAuthenticationInterceptor(
///     cookieStorage: storage,
///     loginStrategy: { try await login(email, password) })
/// ```
public struct CookieAuthenticationInterceptor: RequestInterceptor {
    private let authentication: AuthenticationInterceptor<CookieToken>

    /// - Parameters:
    ///   - cookieStorage: where the session is kept. Interceptors with the same one share each login.
    ///   - loginStrategy: returns the cookies of a new session. Where it can't be had without the user, it throws
    ///     ``NetworkError/unauthorized``, and requests end with that.
    ///   - shouldAuthenticate: whether a request is one that the session is meant for.
    ///   - isSessionOver: whether an answer says so: by default status 401. A server that redirects to its login page says it
    ///     by a status of 302 and that page's address in `Location`.
    ///   - logger: is told what becomes of the session.
    public init(
        cookieStorage: TokenStorage<CookieToken>, loginStrategy: @escaping @Sendable () async throws -> CookieToken,
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true },
        isSessionOver: @escaping @Sendable (HTTPResponse) -> Bool = { $0.status == 401 },
        logger: (any NetworkLogger)? = nil
    ) {
        authentication = AuthenticationInterceptor(
            tokenStorage: cookieStorage, refreshStrategy: { _ in try await loginStrategy() },
            shouldAuthenticate: shouldAuthenticate, obtainsFirst: true, isRefused: isSessionOver, logger: logger)
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        try await authentication.adapt(&exchange)
    }

    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        if try await authentication.retry(&exchange, after: outcome) { return true }
        guard case .success(let response) = outcome else { return false }
        // What the server has done is done: a store that fails now must not make a failure of its answer.
        do { try await authentication.coordinator.adopt(response, exchange) } catch {
            authentication.logger?.error("the cookies that an answer sets could not be saved", ["error": "\(error)"])
        }
        return false
    }
}

extension TokenCoordinator<CookieToken> {
    /// Takes over the cookies of an answer, if the session that it belongs to is still the stored one.
    fileprivate func adopt(_ response: HTTPResponse, _ exchange: Exchange) async throws {
        guard exchange.mayCarryCredentials, response.headers.contains("Set-Cookie"),
            let carried = exchange.bindings.version(of: ObjectIdentifier(self))
        else { return }
        let stored = try await read()
        guard stored.version == carried, let token = stored.token,
            let merged = token.merging(setCookiesOf: response, to: exchange.request, now: clock.now),
            merged.isWorthSaving(over: token)
        else { return }
        _ = try await replace(carried, with: merged)
    }
}

extension CookieToken {
    /// A server that moves a session's end with every answer doesn't make every answer a write.
    fileprivate func isWorthSaving(over old: CookieToken) -> Bool {
        func values(_ token: CookieToken) -> [[String]] { token.sessionCookies.map { [$0.name, $0.value, $0.domain, $0.path] } }
        guard values(self) == values(old) else { return true }
        return zip(sessionCookies, old.sessionCookies).contains { new, old in
            guard let end = new.expires, let oldEnd = old.expires else { return new.expires != old.expires }
            return end < oldEnd || end - oldEnd >= .seconds(60)
        }
    }
}
