/// Puts a plugin's token on requests, after everything else, and lets the scheme see the answers that it asked for.
public struct SchemeInterceptor: RequestInterceptor {
    private let session: SchemeSession
    private let authentication: AuthenticationInterceptor<PluginToken>
    private let shouldAuthenticate: @Sendable (HTTPRequest) -> Bool

    /// What is for the proxy goes with every request, also with those that leave the origin of a credential.
    public var phase: TokenPhase { session.instance.target == .proxy ? .credential : .signature }

    init(
        _ session: SchemeSession, shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool, logger: (any NetworkLogger)?
    ) {
        self.session = session
        self.shouldAuthenticate = shouldAuthenticate
        let instance = session.instance
        authentication = AuthenticationInterceptor(
            tokenStorage: session.tokenStorage, refreshStrategy: { try await session.renewed($0) },
            shouldAuthenticate: shouldAuthenticate, obtainsFirst: session.hasFlows,
            isRefused: { $0.status == instance.target.challengeStatus },
            logger: logger, prepared: { $0.map(instance.token) ?? instance.token }, isForProxy: instance.target == .proxy)
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        guard session.hasFlows else {
            guard mayAuthenticate(exchange) else { return }
            return try await session.instance.token.write(on: &exchange)
        }
        do { try await authentication.adapt(&exchange) } catch NetworkError.plugin(let error) where error.status == .badToken {
            // Written by an older version of the plugin, for one. Nothing of it is on the request.
            guard try await authentication.renewAndAdapt(&exchange) else { throw NetworkError.plugin(error) }
        }
    }

    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        guard case .success(let response) = outcome, mayAuthenticate(exchange),
            session.instance.target.answers(with: response.status, to: exchange.request.origin)
        else { return false }
        if session.instance.needs.response(response.status),
            let isWorthIt = try await answersChallenge(&exchange, response)
        {
            return isWorthIt
        }
        return session.hasFlows ? try await authentication.retry(&exchange, after: outcome) : false
    }

    private func mayAuthenticate(_ exchange: Exchange) -> Bool {
        (exchange.mayCarryCredentials || session.instance.target == .proxy) && shouldAuthenticate(exchange.request)
    }

    /// Whether the scheme has done something for which the request is worth another sending. Nil: it leaves the answer to the
    /// host.
    private func answersChallenge(_ exchange: inout Exchange, _ response: HTTPResponse) async throws -> Bool? {
        let instance = session.instance
        guard let use: SchemeUse = exchange.bindings.attachment(of: ObjectIdentifier(instance)) else { return nil }
        let answer = FlowResponse(
            status: response.status, isFromProxy: instance.target == .proxy, headers: response.headers, body: [],
            url: exchange.request.url)
        let (verdict, kept): (Verdict, IssuedToken?)
        do throws(PluginError) {
            (verdict, kept) = try instance.verdict(on: answer, to: exchange.request, attempt: exchange.attempt, use)
        } catch {
            throw NetworkError.plugin(error)
        }
        if let kept, let carried = exchange.bindings.version(of: ObjectIdentifier(session.coordinator)) {
            try await session.adopt(kept, replacing: carried)
        }
        switch verdict {
        case .nothing, .stateChanged: return nil
        case .retryOnce: return exchange.bindings.countChallenge() ? true : nil
        case .challenge:
            let origin = exchange.request.origin
            return try await authentication.renewToken(&exchange) { try await session.challenged($0, answer, at: origin) }
        }
    }
}
