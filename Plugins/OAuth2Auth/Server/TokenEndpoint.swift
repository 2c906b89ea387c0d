internal import NevodPluginKit
internal import NevodSupport

/// The requests of one flow to the authorization server's endpoints, with the client's proof of who it is.
struct TokenEndpoint: Sendable {
    let scheme: OAuth2Auth
    let flow: AuthFlow
    let endpoints: Endpoints
    /// Nil if the flow asks for bearer tokens.
    var proofs: FlowProofs?

    init(of scheme: OAuth2Auth, _ flow: AuthFlow, _ endpoints: Endpoints) {
        self.scheme = scheme
        self.flow = flow
        self.endpoints = endpoints
    }

    /// Asks for a token.
    ///
    /// - Parameters:
    ///   - fields: those of the grant, `grant_type` among them.
    ///   - what: what the server grants or refuses, for errors.
    ///   - old: the token that this one replaces.
    ///   - check: returns the response as it is to be read, or throws.
    func token(
        _ fields: FormFields, as what: String = "the token request", replacing old: StoredToken? = nil,
        _ check: (JSONValue) throws(SchemeError) -> JSONValue = { json throws(SchemeError) in json }
    ) async throws(SchemeError) -> StoredToken {
        let answer = try await answer(fields)
        if let server = try await moved(after: answer.status) {
            return try await server.token(fields, as: what, replacing: old, check)
        }
        return try await token(in: answer, as: what, replacing: old, check)
    }

    /// Asks for a token, and returns what the server says, be it an error.
    ///
    /// - Parameter fields: those of the grant, `grant_type` among them.
    func answer(_ fields: FormFields) async throws(SchemeError) -> ServerAnswer {
        var fields = fields
        for field in scheme.extraToken.fields { fields.append(field.name, field.value) }
        return try await ask(fields, at: endpoints.token)
    }

    /// The token in the server's answer. If it can't be used, the refresh token that came with it is kept: the old one is spent.
    ///
    /// - Throws: as ``ServerAnswer/success(_:)``.
    func token(
        in answer: ServerAnswer, as what: String = "the token request", replacing old: StoredToken? = nil,
        _ check: (JSONValue) throws(SchemeError) -> JSONValue = { json throws(SchemeError) in json }
    ) async throws(SchemeError) -> StoredToken {
        let json = try check(answer.success(what))
        var token: StoredToken
        do throws(SchemeError) {
            token = try StoredToken(json, at: flow.unixSeconds, issuer: endpoints.issuer, random: flow.random.first)
            try bind(&token)
        } catch {
            if var old, let refreshToken = try StoredToken.refreshToken(in: json) {
                old.refreshToken = refreshToken
                try await flow.keep(old.issued)
            }
            throw error
        }
        if let old {
            try checkIdentity(of: token, as: old)
            token.keepMissing(of: old)
        }
        token.endpoints = endpoints.kept
        return token
    }

    /// Sends a form with the client's proof, and sends it again once if the server, being busy, asks for a short wait
    /// (RFC 6585 §4, RFC 9110 §15.6.4).
    ///
    /// - Parameter namingClient: whether the form has the client's identifier also if the proof is elsewhere.
    func ask(_ fields: FormFields, at url: String, namingClient: Bool = false) async throws(SchemeError) -> ServerAnswer {
        let first = reading(try await post(fields, to: url, namingClient), to: fields)
        guard first.status == 429 || first.status == 503, let wait = first.retryAfter, wait <= Self.longestWait else {
            return first
        }
        // Jitter of up to a second: all clients that the server has sent away are told the same time.
        let jitter = Int64(flow.random.first ?? 0) * 1000 / 256
        try await flow.wait(.milliseconds(max(1, wait) * 1000 + jitter))
        return reading(try await post(fields, to: url, namingClient), to: fields)
    }

    /// The longest wait that a server may ask for, in seconds. Meanwhile all requests wait that need the token.
    private static let longestWait: Int64 = 30

    private func reading(_ response: FlowResponse, to fields: FormFields) -> ServerAnswer {
        var answer = ServerAnswer(response, at: flow.unixSeconds)
        answer.clientSetting = scheme.clientSetting
        answer.clientAdvice = scheme.clientAdvice(at: endpoints)
        answer.secrets = fields.fields.compactMap { if case .secret(let secret) = $0.value { secret } else { nil } }
        guard let secret = scheme.clientSecret else { return answer }
        answer.secrets.append(secret)
        if let clientID = scheme.clientID, scheme.clientMethod(at: endpoints) == .basic {
            let pair = OAuth2Auth.basic(clientID, secret).utf8.dropFirst(6).prefix { $0 != UInt8(ascii: "=") }
            answer.secrets.append(Secret(String(Substring(pair))))
        }
        return answer
    }

    /// The server with its present endpoints, if a response says that the one kept with a token is none any more, so that nothing was
    /// done there.
    private func moved(after status: Int) async throws(SchemeError) -> TokenEndpoint? {
        let isNoEndpoint = (300..<400).contains(status) || status == 404 || status == 405 || status == 410
        guard endpoints.source == .token, isNoEndpoint else { return nil }
        let present = try await scheme.endpoints(flow, needing: [.token])
        guard !present.token.utf8.elementsEqual(endpoints.token.utf8) else { return nil }
        var server = TokenEndpoint(of: scheme, flow, present)
        server.proofs = proofs
        return server
    }

    /// Sends a form with the client's proof, and with one of the token's key where a token is asked for.
    private func post(_ fields: FormFields, to url: String, _ namingClient: Bool) async throws(SchemeError) -> FlowResponse {
        var response: FlowResponse
        if let proofs, wantsProof(url) {
            response = try await send(fields, to: url, namingClient, proofs)
            if proofs.shouldProveAgain(after: response, at: flow.unixSeconds) {
                response = try await send(fields, to: url, namingClient, proofs)
            }
            try FlowProofs.check(response)
        } else {
            response = try await send(fields, to: url, namingClient)
        }
        return response
    }

    private func send(
        _ fields: FormFields, to url: String, _ namingClient: Bool, _ proofs: FlowProofs? = nil
    ) async throws(SchemeError) -> FlowResponse {
        var fields = fields
        var headers: [(name: String, value: String)] = [("Accept", "application/json")]
        if let proofs { headers.append(("DPoP", try proofs.proof(for: url, flow))) }
        try await scheme.identify(&fields, &headers, at: endpoints, flow)
        if namingClient, fields["client_id"] == nil, let clientID = scheme.clientID {
            fields.append("client_id", .text(clientID))
        }
        let response = try await flow.send(.post(url, form: fields, headers: headers, followsRedirects: false))
        proofs?.keepNonce(of: response)
        return response
    }

    /// Adds the scopes, audiences and resources that the request's parameters or else the settings name (RFC 6749 §3.3, RFC 8707).
    func target(_ fields: inout FormFields) {
        if !scope.isEmpty { fields.append("scope", .text(scope)) }
        recipients(&fields)
    }

    /// Adds the audiences and resources alone.
    func recipients(_ fields: inout FormFields) {
        for (name, settings) in [("audience", scheme.audiences), ("resource", scheme.resources)] {
            let asked = flow.parameters(name)
            for value in asked.isEmpty ? settings : asked { fields.append(name, .text(value)) }
        }
    }

    /// The scopes that are asked for, separated by spaces; empty if the server chooses.
    var scope: String { scheme.scope(of: flow) }
}

extension OAuth2Auth {
    /// The scopes that a flow asks for, as ``TokenEndpoint/scope`` has them.
    func scope(of flow: AuthFlow) -> String {
        let scopes = flow.parameters("scope")
        return scopes.isEmpty ? scope ?? "" : scopes.joined(separator: " ")
    }

    /// The setting that proves who the client is.
    fileprivate var clientSetting: String {
        clientKey != nil ? "client-key" : clientSecret != nil ? "client-secret" : "client-id"
    }
}

extension StoredToken {
    /// Reads the response of a token endpoint (RFC 6749 §5.1).
    ///
    /// - Parameter random: chooses how much earlier than at the server the token expires here; nil for not at all.
    init(_ json: JSONValue, at now: Int64, issuer: String?, random: UInt8? = nil) throws(SchemeError) {
        guard let accessToken = json["access_token"]?.string, Self.isToken(accessToken) else {
            throw .unavailable("the server's response has no valid access_token")
        }
        self.init(accessToken: Secret(accessToken), type: try Self.type(json))
        refreshToken = try Self.refreshToken(in: json)
        // Some servers send the number as a string, and some a zero for a token that doesn't expire.
        let lifetime = json["expires_in"]?.integer ?? json["expires_in"]?.string.flatMap { Int64($0) }
        expiresAt = lifetime.flatMap { $0 > 0 ? now + Self.usable(min($0, 1_000_000_000), random) : nil }
        scope = json["scope"]?.string.flatMap { Self.isScope($0) ? $0 : nil }
        idToken = json["id_token"]?.string.map { Secret($0) }
        self.issuer = issuer
    }

    static func refreshToken(in json: JSONValue) throws(SchemeError) -> Secret? {
        guard let text = json["refresh_token"]?.string, !text.isEmpty else { return nil }
        guard isRefreshToken(text) else { throw .unavailable("the server's response has no valid refresh_token") }
        return Secret(text)
    }

    /// Returns the seconds for which a token counts as valid: fewer than at the server, since a request takes time to arrive, and
    /// not the same for all clients that logged in together. A tenth less at most, so that a token of a few seconds is used as well.
    static func usable(_ lifetime: Int64, _ random: UInt8?) -> Int64 {
        guard let random else { return lifetime }
        let margin = min(lifetime, 100) / 10
        return lifetime - margin + margin * Int64(random) / 512
    }

    private static func type(_ json: JSONValue) throws(SchemeError) -> String {
        let type = json["token_type"]?.string ?? "Bearer"
        // In any letter case (§5.1).
        if type.isHeaderName("bearer") { return "Bearer" }
        if type.isHeaderName("dpop") { return "DPoP" }
        // Slack's name for whom the token is, a bearer token.
        if json["ok"]?.bool == true, type.isHeaderName("bot") || type.isHeaderName("user") { return "Bearer" }
        // A type that the client doesn't understand must not be used (§7.1).
        throw .unsupported("the server issued a token of a type that this client doesn't know")
    }

    /// The longest token in bytes.
    static let mostTokenBytes = 32_768

    /// Whether a text can be a token (RFC 6749 Appendix A.12, A.17): visible ASCII, within what a header takes.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= mostTokenBytes && text.utf8.allSatisfy { $0 >= 0x21 && $0 < 0x7F }
    }

    /// Whether a text can be a refresh token. More than Appendix A.17 has: the client only repeats it, in a form's field.
    static func isRefreshToken(_ text: String) -> Bool {
        text.utf8.count <= 16_384 && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    private static func isScope(_ text: String) -> Bool {
        text.utf8.count <= 4096 && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }
}
