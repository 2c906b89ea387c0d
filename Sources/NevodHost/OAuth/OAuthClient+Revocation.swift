extension OAuthClient {
    /// Tells the server that a token is no longer used, as at a logout (RFC 7009): the refresh token, with which the server
    /// ends its grant, and then the access token, for servers that don't end it. A token that the server doesn't know is no
    /// error.
    ///
    /// ```swift
    /// if let token = try await storage.load() { try? await client.revoke(token) }
    /// try await storage.clear()
    /// ```
    ///
    /// - Throws: ``OAuthError``; the token may then still be valid.
    public func revoke(_ token: OAuthToken) async throws(OAuthError) {
        guard let endpoint = try await server().revocationEndpoint else {
            throw OAuthError(.invalidSetting, "the server has no revocation endpoint; the token is valid until it expires")
        }
        if let refreshToken = token.refreshToken { try await revoke(refreshToken, "refresh_token", at: endpoint) }
        do throws(OAuthError) { try await revoke(token.accessToken, "access_token", at: endpoint) } catch {
            // Such a server lets access tokens expire.
            guard token.refreshToken != nil, error.serverCode == .unsupportedTokenType else { throw error }
        }
    }

    private func revoke(_ token: String, _ hint: String, at endpoint: String) async throws(OAuthError) {
        try await post(["token": token, "token_type_hint": hint], to: endpoint, for: "the revocation of the token").checkSuccess()
    }
}
