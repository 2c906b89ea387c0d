internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// A login with a browser (RFC 6749 §4.1, RFC 7636): on this machine through a redirect to loopback (RFC 8252), elsewhere by
/// pasting the address where the browser ended.
struct AuthorizationCode {
    /// The limit on ignored redirects from other logins or other programs.
    private static let mostStrangers = 20
    private static let mostAnswers = 3
    /// The contract's NEVOD_LIMIT_URL.
    private static let longestAddress = 8192

    private let server: TokenEndpoint
    private var scheme: OAuth2Auth { server.scheme }
    private var flow: AuthFlow { server.flow }

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        let endpoint = try server.endpoints.authorizationEndpoint(withPKCE: scheme.usesPKCE)
        let redirect = try RedirectURI(scheme.redirectURI)
        let listening = try await listen(redirect)
        let request = try AuthorizationRequest(server, redirectURI: listening ?? redirect.text)
        let fields = try await PushedRequest(server: server).fields(for: request)
        let address = fields.encoded.withUnsafeBytes { RedirectAddress.opening(endpoint, with: $0) }
        guard address.utf8.count <= Self.longestAddress else {
            throw .badSetting(
                "authorization-parameter",
                "or scope makes the login's address longer than \(Self.longestAddress) bytes; shorten it, or set par=always if the "
                    + "server accepts pushed requests")
        }
        let code = try await code(for: request, at: address, isListening: listening != nil)
        return try await redeem(code, of: request)
    }

    /// The redirect URI at which the host waits; nil if the person has to copy the browser's address.
    private func listen(_ redirect: RedirectURI) async throws(SchemeError) -> String? {
        guard let loopback = redirect.loopback, !scheme.pastesRedirect else { return nil }
        do throws(SchemeError) {
            let url = try await flow.listen(
                path: loopback.path, host: loopback.host, port: loopback.port, formPost: scheme.responseMode == .formPost)
            return redirect.listening(at: url)
        } catch {
            guard error.isUnsupported, scheme.responseMode == .query else { throw error }
            return nil
        }
    }

    // MARK: The response

    private func code(
        for request: AuthorizationRequest, at address: String, isListening: Bool
    ) async throws(SchemeError) -> Secret {
        if isListening {
            do throws(SchemeError) {
                return try await browsed(request, at: address)
            } catch {
                guard error.isUnsupported, scheme.responseMode == .query else { throw error }
            }
        }
        return try await pasted(request, at: address)
    }

    private func browsed(_ request: AuthorizationRequest, at address: String) async throws(SchemeError) -> Secret {
        for _ in 0..<Self.mostStrangers {
            let redirect = try await flow.browseToRedirect(address)
            let response =
                scheme.responseMode == .formPost
                ? redirect.body.withUnsafeBytes { AuthorizationResponse(form: $0) } : AuthorizationResponse(address: redirect.url)
            if response.answers(request.state) { return try response.code(from: server.endpoints) }
        }
        throw .unavailable(
            "\(Self.mostStrangers) redirects arrived that don't belong to this login; close other login windows, and find out which "
                + "program on this machine sends them")
    }

    private func pasted(_ request: AuthorizationRequest, at address: String) async throws(SchemeError) -> Secret {
        try await flow.show("Log in with a browser at this address, then copy the address where it ended:", url: address)
        let takesCodes = request.proof != nil && !server.endpoints.namesIssuer
        var problem = ""
        for _ in 0..<Self.mostAnswers {
            let what = "Address where the browser ended" + (takesCodes ? ", or the code that it shows" : "")
            let prompt = problem.isEmpty ? what : "\(what) (the last one \(problem))"
            switch PastedRedirect(try await flow.ask(.code("redirect", prompt)), to: request, takesCodes: takesCodes) {
            case .response(let response): return try response.code(from: server.endpoints)
            case .code(let code): return code
            case .unusable(let reason): problem = reason
            }
        }
        throw .denied("none of \(Self.mostAnswers) pasted addresses can be used: the last one \(problem)")
    }

    // MARK: The token

    private func redeem(_ code: Secret, of request: AuthorizationRequest) async throws(SchemeError) -> StoredToken {
        var fields: FormFields = [
            "grant_type": "authorization_code", "code": .secret(code), "redirect_uri": .text(request.redirectURI),
        ]
        if let proof = request.proof { fields.append("code_verifier", .secret(proof.verifier)) }
        // The token request names the audiences and resources too (RFC 8707 §2.2).
        server.recipients(&fields)
        var token = try await server.token(fields)
        token.nonce = request.nonce
        // A response without a scope grants the requested scope (§5.1).
        if token.scope == nil, !server.scope.isEmpty { token.scope = server.scope }
        return token
    }
}

extension Endpoints {
    func authorizationEndpoint(withPKCE: Bool) throws(SchemeError) -> String {
        guard !withPKCE || challengeMethods.isEmpty || challengeMethods.contains("S256") else {
            throw .badSetting("pkce", "must be false: the server's metadata does not offer S256")
        }
        guard let authorization else { throw .internal("a login without an authorization endpoint") }
        return authorization
    }
}

extension OAuth2Auth {
    /// Refuses settings of a person's login that can't work or that contradict each other.
    func checkLogin() throws(SchemeError) {
        try AuthorizationRequest.check(extraAuthorization)
        let redirect = try RedirectURI(redirectURI)
        guard grant == .code || grant == .device else { return }
        guard let clientID, !clientID.isEmpty else {
            throw .badSetting("client-id", "is needed: the identifier that the server gave this program when it was registered")
        }
        guard grant == .code else { return }
        guard usesPKCE || clientSecret != nil || clientKey != nil else {
            throw .badSetting(
                "pkce", "must be true without client-secret: otherwise anybody who sees the redirect could use its code")
        }
        guard responseMode == .query || redirect.loopback != nil && !pastesRedirect else {
            throw .badSetting(
                "response-mode", "must be query if the browser's address is pasted, because an address doesn't contain a form"
            )
        }
    }
}
