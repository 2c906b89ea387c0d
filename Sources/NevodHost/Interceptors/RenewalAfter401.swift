/// Decides what follows when a server refuses the token of a request: the request is sent again, at once or after a renewal, or the
/// caller gets the response.
extension AuthenticationInterceptor {
    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        guard case .success(let response) = outcome, isRefused(response), shouldCarryToken(exchange) else { return false }
        // The server may have refused the time of a signature rather than the token. A renewal could ask a person to log in.
        if exchange.bindings.signing.shouldSignAgain(exchange.request, after: response) { return true }
        return try await renewToken(&exchange, by: strategy(for: exchange))
    }

    /// Renews the token that this request carried, after the server has refused it, unless another one is stored already.
    ///
    /// - Parameter limit: the most renewals for one request.
    /// - Returns: whether to send the request again with another token.
    func renewToken(
        _ exchange: inout Exchange, upTo limit: Int = 1, by strategy: @escaping RefreshStrategy
    ) async throws -> Bool {
        let owner = ObjectIdentifier(coordinator)
        guard !coordinator.isRenewedByCurrentTask, let carried = exchange.bindings.version(of: owner) else { return false }
        if try await coordinator.read().version != carried {
            if let past = await coordinator.refusal(for: carried, since: began(exchange)) {
                try await throwIfFailed(past)
            }
            return exchange.bindings.countReplacement(owner)
        }
        guard exchange.bindings.countRenewal(owner, upTo: limit) else { return false }
        var outcome = try await renew(carried, isRefused: true, exchange, by: strategy)
        // This call joined an early renewal that had started before the server refused the token.
        if case .stillUsable = outcome { outcome = try await renew(carried, isRefused: true, exchange, by: strategy) }
        switch outcome {
        case .replaced: return true
        case .refused where coordinator.remembersRefusals:
            try await throwIfFailed(outcome)
            return false
        case .stillUsable, .noReplacement, .refused: return false
        case .failed(let error): throw NetworkError.authenticationFailed(error)
        }
    }

    /// The time from which a refused renewal counts for a request: it then gets no renewal of its own.
    func began(_ exchange: Exchange) -> ContinuousClock.Instant {
        workBegan.map { min($0, exchange.bindings.began) } ?? exchange.bindings.began
    }
}
