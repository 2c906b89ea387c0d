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
    /// - Parameter fields: those of the grant, `grant_type` among them.
    func token(_ fields: FormFields) async throws(SchemeError) -> StoredToken {
        var fields = fields
        for field in scheme.extraToken.fields { fields.append(field.name, field.value) }
        let response = try await post(fields, to: endpoints.token)
        let json = try ServerAnswer(response).success("the token request")
        var token = try StoredToken(json, at: flow.unixSeconds, issuer: endpoints.issuer)
        try bind(&token)
        return token
    }

    /// Sends a form with the client's proof, and with one of the token's key where a token is asked for.
    func post(_ fields: FormFields, to url: String) async throws(SchemeError) -> FlowResponse {
        guard let proofs, wantsProof(url) else { return try await send(fields, to: url) }
        var response = try await send(fields, to: url, proofs)
        if proofs.shouldProveAgain(after: response, at: flow.unixSeconds) {
            response = try await send(fields, to: url, proofs)
        }
        try FlowProofs.check(response)
        return response
    }

    private func send(
        _ fields: FormFields, to url: String, _ proofs: FlowProofs? = nil
    ) async throws(SchemeError) -> FlowResponse {
        var fields = fields
        var headers: [(name: String, value: String)] = [("Accept", "application/json")]
        if let proofs { headers.append(("DPoP", try proofs.proof(for: url, flow))) }
        try scheme.identify(&fields, &headers, at: endpoints, flow)
        let response = try await flow.send(.post(url, form: fields, headers: headers, followsRedirects: false))
        proofs?.keepNonce(of: response)
        return response
    }

    /// Adds the scopes, audiences and resources that the request's parameters or else the settings name (RFC 6749 §3.3, RFC 8707).
    func target(_ fields: inout FormFields) {
        let scopes = flow.parameters("scope")
        let scope = scopes.isEmpty ? scheme.scope ?? "" : scopes.joined(separator: " ")
        if !scope.isEmpty { fields.append("scope", .text(scope)) }
        for (name, settings) in [("audience", scheme.audiences), ("resource", scheme.resources)] {
            let asked = flow.parameters(name)
            for value in asked.isEmpty ? settings : asked { fields.append(name, .text(value)) }
        }
    }
}

extension StoredToken {
    /// Reads the response of a token endpoint (RFC 6749 §5.1).
    init(_ json: JSONValue, at now: Int64, issuer: String?) throws(SchemeError) {
        guard let accessToken = json["access_token"]?.string, Self.isToken(accessToken) else {
            throw .unavailable("the server's response has no valid access_token")
        }
        let type = json["token_type"]?.string ?? "Bearer"
        switch type.lowercased() {
        case "bearer": self.init(accessToken: Secret(accessToken))
        case "dpop": self.init(accessToken: Secret(accessToken), type: "DPoP")
        // A type that the client doesn't understand must not be used (§7.1).
        default: throw .unsupported("the server issued a token of a type that this client doesn't know")
        }
        if let refresh = json["refresh_token"]?.string, Self.isToken(refresh) { refreshToken = Secret(refresh) }
        // Some servers send the number as a string.
        let lifetime = json["expires_in"]?.integer ?? json["expires_in"]?.string.flatMap { Int64($0) }
        expiresAt = lifetime.map { now + max(0, min($0, 1_000_000_000)) }
        scope = json["scope"]?.string.flatMap { $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? $0 : nil }
        self.issuer = issuer
    }

    /// Whether a text can be a token (RFC 6749 Appendix A.12, A.17): visible ASCII, within what a header takes.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 32_768 && text.utf8.allSatisfy { $0 >= 0x21 && $0 < 0x7F }
    }
}
