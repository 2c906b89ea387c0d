/// A scheme that can renew a token that has expired or was rejected.
public protocol RefreshFlow: FlowScheme {
    /// Obtains a new token with the old one.
    ///
    /// - Throws: as ``FlowScheme/login(_:)``; ``SchemeError/badToken(_:)`` if a login is needed, and
    ///   ``SchemeError/denied(_:detail:)`` if the server refused permanently.
    func refresh(_ flow: AuthFlow, _ token: Token) async throws(SchemeError) -> IssuedToken
}
