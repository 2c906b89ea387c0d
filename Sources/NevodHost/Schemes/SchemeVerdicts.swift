internal import NevodPluginABI

/// Decides what follows a scheme's verdict about a response, and how often one request may be sent again for it.
extension SchemeInterceptor {
    /// Shows the response to the scheme, and acts on its verdict.
    ///
    /// - Returns: whether to send the request again; nil if the scheme leaves the decision to the host.
    func actOnVerdict(about response: HTTPResponse, _ exchange: inout Exchange) async throws -> Bool? {
        let instance = session.instance
        guard let use: SchemeUse = exchange.bindings.attachment(of: ObjectIdentifier(instance)), !use.body.isShownAtEnd else {
            return nil
        }
        let shown = instance.shown(response, use.body, to: exchange.request)
        let isChallenge = instance.needs.isChallenge(response, to: exchange.request.method, from: instance.target)
        switch try await verdict(on: shown, exchange, use) {
        case .nothing, .stateChanged, .refuse: return nil
        case .retryOnce: return isChallenge && exchange.bindings.countRetry(ObjectIdentifier(instance)) ? true : nil
        case .challenge:
            guard isChallenge else { return nil }
            let origin = exchange.request.origin
            // One request never logs in twice, because the server has refused the token of the first login. An earlier challenge
            // flow doesn't count: it may have kept a session that the server has ended.
            let mayLogIn =
                exchange.bindings.renewals(of: ObjectIdentifier(session.coordinator)) == 0
                || session.latestRenewal.isByChallenge(since: exchange.bindings.began)
            let client = ClientLines(of: exchange.request)
            return try await authentication.renewToken(&exchange, upTo: Int(NEVOD_LIMIT_CHALLENGES)) {
                try await session.challenged($0, shown, at: origin, mayLogIn: mayLogIn, for: client)
            }
        }
    }

    /// Shows a response to the scheme, and keeps the state and token that it brings.
    func verdict(
        on shown: FlowResponse, _ exchange: Exchange, _ use: SchemeUse, isAtEnd: Bool = false
    ) async throws -> Verdict {
        let (verdict, kept): (Verdict, IssuedToken?)
        do { (verdict, kept) = try await session.instance.verdict(on: shown, exchange, use, isAtEnd: isAtEnd) } catch let error
            as PluginError
        {
            throw NetworkError.plugin(error)
        }
        if let kept, let carried = exchange.bindings.version(of: ObjectIdentifier(session.coordinator)) {
            try await session.adopt(kept, replacing: carried)
        }
        return verdict
    }
}
