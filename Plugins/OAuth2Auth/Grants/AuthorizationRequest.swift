internal import NevodOAuth
internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// The way the server gives its response to the browser.
enum ResponseMode: String, CaseIterable, SettingValue {
    /// In the redirect's query (RFC 6749 §4.1.2).
    case query
    /// In a form that the server's page posts, so that no address has the code (OAuth 2.0 Form Post Response Mode).
    case formPost = "form-post"
}

/// A request for a person's consent (RFC 6749 §4.1.1), with the values that bind its response and its code to it.
struct AuthorizationRequest: Sendable {
    let redirectURI: String
    /// Binds the response to this login (§10.12).
    let state: Secret
    /// Binds the code to this login; nil if the settings turn it off.
    let proof: PKCE?
    /// Binds an ID token to this login (OpenID Connect Core §3.1.2.1); nil if the scope doesn't ask for one.
    let nonce: String?
    let fields: FormFields

    init(_ server: TokenEndpoint, redirectURI: String) throws(SchemeError) {
        let (scheme, flow) = (server.scheme, server.flow)
        self.redirectURI = redirectURI
        state = try flow.unguessable("state")
        proof = try scheme.usesPKCE ? flow.proof() : nil
        nonce = try scheme.asksForIdentity(flow) ? String(revealing: flow.unguessable("nonce")) : nil
        var fields: FormFields = ["response_type": "code"]
        fields.append("client_id", .text(scheme.clientID ?? ""))
        fields.append("redirect_uri", .text(redirectURI))
        fields.append("state", .secret(state))
        if let proof {
            fields.append("code_challenge", .text(proof.challenge))
            fields.append("code_challenge_method", "S256")
        }
        if let nonce { fields.append("nonce", .text(nonce)) }
        try server.bindCode(&fields)
        if scheme.responseMode == .formPost { fields.append("response_mode", "form_post") }
        server.target(&fields)
        if !flow.account.isEmpty { fields.append("login_hint", .text(flow.account)) }
        for field in scheme.extraAuthorization.fields { fields.append(field.name, field.value) }
        self.fields = fields
    }

    /// The names of the parameters that `authorization-parameter` must not set, and what sets each of them instead.
    private static let ownNames: [(name: String, source: String)] = [
        ("response_type", "the login itself"), ("client_id", "the setting client-id"),
        ("redirect_uri", "the setting redirect-uri"),
        ("state", "the login itself"), ("code_challenge", "the login itself"), ("code_challenge_method", "the login itself"),
        ("nonce", "the login itself"), ("request_uri", "the setting par"), ("dpop_jkt", "the setting dpop"),
        ("response_mode", "the setting response-mode"), ("scope", "the setting scope"), ("audience", "the setting audience"),
        ("resource", "the setting resource"), ("login_hint", "the account that is logged in"),
        ("client_secret", "the setting client-secret, which must not be in an address,"),
    ]

    /// Refuses parameters that would change the login's own parameters.
    static func check(_ extra: FormFields) throws(SchemeError) {
        for field in extra.fields {
            guard let own = ownNames.first(where: { $0.name.utf8.elementsEqual(field.name.utf8) }) else { continue }
            throw .badSetting("authorization-parameter", "must not set \"\(own.name)\": \(own.source) does")
        }
    }
}

extension AuthFlow {
    /// 43 characters with 256 bits from ``random``. Values for different purposes reveal nothing about each other, although the
    /// random bytes are the same until the next `await`. A login's address shows its state, for example, and its verifier must not
    /// follow from it.
    func unguessable(_ purpose: String) throws(SchemeError) -> Secret {
        let random = random
        var digest = try HashFunction.sha256.hmac(key: random.span, of: purpose)
        defer { digest.wipe() }
        return Secret(count: Base64.digitCount(digest.count)) { memory in
            guard let start = memory.bindMemory(to: UInt8.self).baseAddress else { return }
            Base64.encode(digest.bytes, .url, to: start)
        }
    }

    fileprivate func proof() throws(SchemeError) -> PKCE {
        guard let proof = PKCE(verifier: try unguessable("verifier")) else { throw .internal("libcrypto has no SHA-256") }
        return proof
    }
}
