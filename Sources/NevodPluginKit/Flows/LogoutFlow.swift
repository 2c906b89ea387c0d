/// A scheme that can revoke its token. The host clears the token even if that fails.
public protocol LogoutFlow: FlowScheme {
    /// Revokes the token at the server.
    ///
    /// - Throws: as ``FlowScheme/login(_:)``. The token is cleared nevertheless, and the caller of the logout gets the error.
    func logout(_ flow: AuthFlow, _ token: Token) async throws(SchemeError)
}
