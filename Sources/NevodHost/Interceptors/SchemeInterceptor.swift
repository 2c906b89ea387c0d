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
            logger: logger, prepared: { instance.token($0) }, isForProxy: instance.target == .proxy)
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        if session.hasFlows { return try await authentication.adapt(&exchange) }
        guard mayAuthenticate(exchange) else { return }
        try await session.instance.token.write(on: &exchange)
    }

    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        guard case .success(let response) = outcome, mayAuthenticate(exchange),
            session.instance.target.answers(with: response.status, to: exchange.request.origin)
        else { return false }
        if session.instance.needs.response(response.status), try await answersChallenge(&exchange, response) { return true }
        return session.hasFlows ? try await authentication.retry(&exchange, after: outcome) : false
    }

    private func mayAuthenticate(_ exchange: Exchange) -> Bool {
        (exchange.mayCarryCredentials || session.instance.target == .proxy) && shouldAuthenticate(exchange.request)
    }

    /// Whether the scheme has done something for which the request is worth another sending.
    private func answersChallenge(_ exchange: inout Exchange, _ response: HTTPResponse) async throws -> Bool {
        let instance = session.instance
        let answer = FlowAnswer(
            status: response.status, isFromProxy: instance.target == .proxy, headers: response.headers, body: [],
            url: exchange.request.url)
        let stored = try await session.keeper.read()
        let token = stored.token.map(instance.token)
        let verdict: Verdict
        do throws(PluginError) {
            verdict = try instance.verdict(
                on: answer, to: exchange.request, attempt: exchange.attempt, token: token?.liveToken(of: instance),
                exchange.bindings.use(of: ObjectIdentifier(instance)))
        } catch {
            throw NetworkError.plugin(error)
        }
        switch verdict {
        case .nothing, .stateChanged: return false
        case .retryOnce: return exchange.bindings.mayAnswerChallenge()
        case .challenge:
            guard exchange.bindings.mayAnswerChallenge() else { return false }
            let origin = exchange.request.origin
            let outcome = try await exchange.steppingAside {
                try await session.keeper.renew(stored.version, isRefused: true, until: exchange.deadline) { old in
                    try await session.challenged(old, answer, at: origin)
                }
            }
            switch outcome {
            case .replaced: return true
            case .serving, .kept, .refused: return false
            case .failed(let error): throw NetworkError.authenticationFailed(error)
            }
        }
    }
}
