extension OAuthClient {
    /// Returns the address to open in the user's browser, where the user logs in and consents (RFC 6749 §4.1.1, RFC 7636 §4.3).
    ///
    /// - Parameters:
    ///   - login: begun for this address, and used once.
    ///   - scopes: nil for the client's.
    ///   - parameters: more parameters of the request, such as `prompt` or `login_hint`.
    /// - Throws: ``OAuthError``.
    public func authorizationURL(
        for login: OAuthLogin, scopes: [String]? = nil, parameters: ParameterList = [:]
    ) async throws(OAuthError) -> String {
        try await authorizationURL(
            state: login.state, verifier: login.verifier, redirectURI: login.redirectURI, scopes: scopes, parameters: parameters)
    }

    /// Returns the same address for a program that keeps the parts of the login by itself, and checks the redirect by itself.
    ///
    /// - Parameters:
    ///   - state: ties the response to this request; can't be guessed (RFC 6749 §10.12).
    ///   - verifier: ties the code to this program.
    ///   - redirectURI: the address that the server redirects the browser to.
    ///   - scopes: nil for the client's.
    ///   - parameters: more parameters of the request, such as `prompt` or `login_hint`.
    /// - Throws: ``OAuthError``.
    public func authorizationURL(
        state: String, verifier: PKCEVerifier, redirectURI: String, scopes: [String]? = nil, parameters: ParameterList = [:]
    ) async throws(OAuthError) -> String {
        try Self.check(parameters, of: "parameters")
        guard !state.isEmpty else { throw OAuthError(.invalidSetting, "the state is empty, and would protect nothing") }
        let server = try await server()
        guard let endpoint = server.authorizationEndpoint else {
            throw OAuthError(.invalidSetting, "the server has no authorization endpoint; name it, or use another grant")
        }
        guard !server.lacksS256 else {
            throw OAuthError(
                .invalidMetadata,
                "the server's metadata list PKCE methods without S256, so that a stolen code could be used (RFC 7636 §4.2); "
                    + "let the server offer it, or use another grant")
        }
        var query: ParameterList = [
            "response_type": "code", "client_id": clientID, "redirect_uri": redirectURI, "state": state,
            "code_challenge": try verifier.challenge, "code_challenge_method": "S256",
        ]
        query.parameters += try scope(scopes) + parameters.parameters
        // The endpoint may have a query of its own (RFC 6749 §3.1).
        return "\(endpoint)\(endpoint.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")\(query.query)"
    }

    /// Checks the address that the browser was redirected to, and exchanges its code for a token (RFC 6749 §4.1.3).
    ///
    /// An address with another path, port or query of its own, of another login, or of another server is refused: somebody may have
    /// sent the user a link to it (RFC 9700 §4.4, §4.7).
    ///
    /// - Parameters:
    ///   - redirect: the address with its query.
    ///   - login: the login that the browser was sent away with.
    /// - Throws: ``OAuthError``: `invalidRedirect` for such an address, `refused` with `access_denied` if the user said no.
    public func exchange(redirect: String, for login: OAuthLogin) async throws(OAuthError) -> OAuthToken {
        let response = try OAuthRedirect(redirect, for: login, at: await server())
        return try await exchange(code: response.code, verifier: login.verifier, redirectURI: login.redirectURI)
    }

    /// Exchanges an authorization code for a token (RFC 6749 §4.1.3, RFC 7636 §4.5). The caller has checked the `state` and the
    /// `iss` of the redirect.
    ///
    /// - Parameters:
    ///   - code: from the redirect, for one use.
    ///   - verifier: the one whose challenge was in the authorization URL.
    ///   - redirectURI: the one in the authorization URL.
    /// - Throws: ``OAuthError``.
    public func exchange(code: String, verifier: PKCEVerifier, redirectURI: String) async throws(OAuthError) -> OAuthToken {
        try await token(
            [
                "grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI, "code_verifier": verifier.text,
            ], for: "the token for the code")
    }
}
