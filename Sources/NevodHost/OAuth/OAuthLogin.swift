internal import NevodOAuth
internal import NevodSupport

/// One login with a browser, from the address that is opened to the code that comes back (RFC 6749 §4.1).
///
/// ```swift
/// let login = OAuthLogin(redirectURI: "com.example.app:/login")
/// openInBrowser(try await client.authorizationURL(for: login))
/// // The system passes on the address to which the browser was redirected.
/// let token = try await client.exchange(redirect: address, for: login)
/// ```
///
/// A login ties the response to its request. Keep it where only the person who began the login can bring it back, such as an
/// app's memory or a web site's session, and use it once.
public struct OAuthLogin: Sendable, Redacted {
    /// The address that the server redirects the browser to, as it is registered there (RFC 6749 §3.1.2).
    public let redirectURI: String
    /// Ties the response to this login (RFC 6749 §10.12).
    public let state: String
    /// Ties the authorization code to this program (RFC 7636).
    public let verifier: PKCEVerifier

    /// Begins a login with a random state and verifier, or restores one.
    public init(redirectURI: String, state: String? = nil, verifier: PKCEVerifier = PKCEVerifier()) {
        self.redirectURI = redirectURI
        self.state = state ?? RandomText.make()
        self.verifier = verifier
    }
}

extension OAuthClient {
    /// Returns the address to open in the user's browser, where the user logs in and consents (RFC 6749 §4.1.1, RFC 7636 §4.3).
    ///
    /// - Parameters:
    ///   - login: a login begun for this address, and used once.
    ///   - scopes: nil for the client's.
    ///   - parameters: more parameters of the request, such as `prompt` or `login_hint`.
    /// - Throws: ``OAuthError``.
    public func authorizationURL(
        for login: OAuthLogin, scopes: [String]? = nil, parameters: ParameterList = [:]
    ) async throws(OAuthError) -> String {
        try await authorizationURL(
            state: login.state, verifier: login.verifier, redirectURI: login.redirectURI, scopes: scopes, parameters: parameters)
    }

    /// Returns the address to open in the user's browser, for a program that keeps the login's parts and checks the redirect
    /// itself.
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
        guard !state.isEmpty else {
            throw OAuthError(.invalidSetting, "the state is empty, so it protects nothing; give random text")
        }
        let server = try await server()
        guard let endpoint = server.authorizationEndpoint else {
            throw OAuthError(.invalidSetting, "the server has no authorization endpoint; name it, or use another grant")
        }
        guard !server.lacksS256 else {
            throw OAuthError(
                .invalidMetadata,
                "the server's metadata lists PKCE methods without S256, so that a stolen code could be used (RFC 7636 §4.2); "
                    + "enable S256 at the server, or use another grant")
        }
        var query: ParameterList = [
            "response_type": "code", "client_id": clientID, "redirect_uri": redirectURI, "state": state,
            "code_challenge": try verifier.challenge, "code_challenge_method": "S256",
        ]
        query.parameters += try scope(scopes) + parameters.parameters
        return RedirectAddress.opening(endpoint, with: query.query.utf8)
    }

    /// Checks the address that the browser was redirected to, and exchanges its code for a token (RFC 6749 §4.1.3).
    ///
    /// Refuses an address with another path, port or registered query, and an address from another login or server: an attacker
    /// may have sent the user a link to it (RFC 9700 §4.4, §4.7).
    ///
    /// - Parameters:
    ///   - redirect: the address with its query.
    ///   - login: the login that the browser was opened for.
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
    ///   - verifier: the verifier of the challenge in the authorization URL.
    ///   - redirectURI: the redirect URI in the authorization URL.
    /// - Throws: ``OAuthError``.
    public func exchange(code: String, verifier: PKCEVerifier, redirectURI: String) async throws(OAuthError) -> OAuthToken {
        try await token(
            [
                "grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI, "code_verifier": verifier.text,
            ], for: "the token for the code")
    }
}

/// The authorization response in the address that a browser was redirected to (RFC 6749 §4.1.2), after all checks.
struct OAuthRedirect {
    let code: String

    /// - Parameters:
    ///   - address: the address with its query.
    ///   - login: the login that the response must belong to.
    ///   - server: the server that the login was begun at.
    /// - Throws: ``OAuthError`` with `invalidRedirect` for the response of another login, or of another server; with the server's
    ///   code if the server refused the login.
    init(_ address: String, for login: OAuthLogin, at server: OAuthServer) throws(OAuthError) {
        guard let response = AuthorizationResponse(address: address, redirectURI: login.redirectURI) else {
            throw Self.refused("it is not the login's redirect URI; register that one at the server")
        }
        guard response.answers(Secret(login.state)) else {
            throw Self.refused("its state is not this login's; begin the login again, and follow no link to it from elsewhere")
        }
        let outcome: AuthorizationResponse.Outcome
        do throws(AuthorizationResponse.Fault) {
            outcome = try response.outcome(issuer: server.issuer, namesIssuer: server.namesIssuer)
        } catch {
            throw Self.refused(Self.problem(error, server.issuer ?? "the server"))
        }
        switch outcome {
        case .code(let code): self.code = code
        case .error(let code, let description): throw Self.failure(code, description, login)
        }
    }

    private static func problem(_ fault: AuthorizationResponse.Fault, _ issuer: String) -> String {
        switch fault {
        case .repeated(let name, _): "it has more than one \(name) parameter"
        case .noIssuer: "it names no issuer (iss), which \(issuer) always does; another server may have sent it (RFC 9207)"
        case .otherIssuer: "an issuer other than \(issuer) sent it, maybe to obtain this login's code (RFC 9207)"
        case .noCode, .invalidCode: "it has no valid code"
        }
    }

    private static func refused(_ problem: String) -> OAuthError {
        OAuthError(.invalidRedirect, "the address that the browser was redirected to is refused: \(problem)")
    }

    private static func failure(_ text: String, _ description: String?, _ login: OAuthLogin) -> OAuthError {
        let secrets = [Secret(login.verifier.text), Secret(login.state)]
        guard let code = OAuthErrorCode(received: text, hiding: secrets) else { return refused("it has an invalid error code") }
        let words = ServerWords.inParentheses(description, hiding: secrets)
        guard code.meaning(status: nil) != .outage else {
            return OAuthError(
                .unavailable, "the authorization server can't serve the login now: \(code)\(words); try again later",
                serverCode: code)
        }
        return OAuthError(.refused, "the authorization server refused the login: \(code)\(words)", serverCode: code)
    }
}
