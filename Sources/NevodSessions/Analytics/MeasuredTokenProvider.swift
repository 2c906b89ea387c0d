extension TokenAnalytics {
    /// Returns a provider with the same tokens, each renewal of which is counted. Requests that share a renewal count it once.
    ///
    /// A verification counts if it is part of the provider: `measuring(VerifyingTokenProvider(…))`. That of a client with a validator
    /// follows what is measured.
    public func measuring(_ provider: some TokenProvider) -> some TokenProvider {
        MeasuredTokenProvider(base: provider, analytics: self)
    }
}

private struct MeasuredTokenProvider<Base: TokenProvider>: TokenProvider {
    let base: Base
    let analytics: TokenAnalytics

    var tokens: SessionTokens { base.tokens }

    func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
        let start = ContinuousClock.now
        do {
            let new = try await base.refresh(tokens)
            analytics.noteIssued(new.accessToken)
            analytics.refreshFinished(TokenRefreshEvent(duration: ContinuousClock.now - start))
            return new
        } catch {
            analytics.refreshFinished(
                TokenRefreshEvent(failure: RefreshFailure(error), duration: ContinuousClock.now - start))
            throw error
        }
    }
}
