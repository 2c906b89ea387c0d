internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// Sends one flow's requests to the authorization server's endpoints, with the client's proof of identity.
///
/// A class, because each step of a flow would copy a struct with all settings.
final class TokenEndpoint: Sendable {
    let scheme: OAuth2Auth
    let flow: AuthFlow
    let endpoints: Endpoints
    /// Nil if the flow asks for bearer tokens.
    let proofs: FlowProofs?

    init(of scheme: OAuth2Auth, _ flow: AuthFlow, _ endpoints: Endpoints, _ proofs: FlowProofs? = nil) {
        self.scheme = scheme
        self.flow = flow
        self.endpoints = endpoints
        self.proofs = proofs
    }

    /// Asks for a token.
    ///
    /// - Parameters:
    ///   - fields: the grant's fields, including `grant_type`.
    ///   - what: the name of the request, for errors.
    ///   - old: the token that this one replaces.
    /// - Throws: as ``ServerAnswer/success(_:)``.
    func token(
        _ fields: FormFields, as what: String = "the token request", replacing old: StoredToken? = nil
    ) async throws(SchemeError) -> StoredToken {
        let answer = try await answer(fields)
        if let server = try await moved(after: answer.response.status) {
            return try await server.token(fields, as: what, replacing: old)
        }
        return try await token(in: answer.success(what), replacing: old)
    }

    /// Asks for a token, and returns the server's response, even an error.
    ///
    /// - Parameter fields: the grant's fields, including `grant_type`.
    func answer(_ fields: FormFields) async throws(SchemeError) -> ServerAnswer {
        var fields = fields
        for field in scheme.extraToken.fields { fields.append(field.name, field.value) }
        return try await ask(fields, at: endpoints.token)
    }

    /// The token in the server's response. If it can't be used, keeps the refresh token that came with it, because the old one is
    /// spent.
    func token(in json: JSONValue, replacing old: StoredToken? = nil) async throws(SchemeError) -> StoredToken {
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

    /// Sends a form with the client's proof. Sends it once more if the server is busy and asks for a short wait (RFC 6585 §4, RFC
    /// 9110 §15.6.4).
    ///
    /// - Parameter namingClient: whether the form has the client's identifier even if the proof isn't in the form.
    func ask(_ fields: FormFields, at url: String, namingClient: Bool = false) async throws(SchemeError) -> ServerAnswer {
        let first = reading(try await post(fields, to: url, namingClient), to: fields)
        let status = first.response.status
        guard status == 429 || status == 503, let wait = first.retryAfter, wait <= Self.longestWait else { return first }
        // Adds jitter of up to a second, because the server tells all clients the same time.
        let jitter = Int64(flow.random.first ?? 0) * 1000 / 256
        try await flow.wait(.milliseconds(max(1, wait) * 1000 + jitter))
        return reading(try await post(fields, to: url, namingClient), to: fields)
    }

    /// The longest wait that a server may ask for, in seconds. All requests that need the token wait meanwhile.
    private static let longestWait: Int64 = 30

    private func reading(_ response: FlowResponse, to fields: FormFields) -> ServerAnswer {
        var answer = ServerAnswer(response, at: flow.unixSeconds)
        answer.clientSetting = scheme.clientSetting
        answer.clientAdvice = scheme.clientAdvice(at: endpoints)
        answer.secrets = fields.fields.compactMap { if case .secret(let secret) = $0.value { secret } else { nil } }
        if let secret = scheme.clientSecret { answer.secrets.append(secret) }
        return answer
    }

    /// The server with its current endpoints, if a response says that the endpoint kept with a token no longer exists, so that
    /// nothing was done there.
    private func moved(after status: Int) async throws(SchemeError) -> TokenEndpoint? {
        let isNoEndpoint = (300..<400).contains(status) || status == 404 || status == 405 || status == 410
        guard endpoints.source == .token, isNoEndpoint else { return nil }
        let present = try await scheme.endpoints(flow, needing: [.token])
        guard !present.token.utf8.elementsEqual(endpoints.token.utf8) else { return nil }
        return TokenEndpoint(of: scheme, flow, present, proofs)
    }

    /// Sends a form with the client's proof. A request for a token has a proof of the token's key too.
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

    /// Adds the scopes, audiences and resources from the request's parameters, or else from the settings (RFC 6749 §3.3, RFC 8707).
    func target(_ fields: inout FormFields) {
        if !scope.isEmpty { fields.append("scope", .text(scope)) }
        recipients(&fields)
    }

    /// Adds only the audiences and resources.
    func recipients(_ fields: inout FormFields) {
        for (name, settings) in [("audience", scheme.audiences), ("resource", scheme.resources)] {
            let asked = flow.parameters(name)
            for value in asked.isEmpty ? settings : asked { fields.append(name, .text(value)) }
        }
    }

    /// The requested scopes, separated by spaces; empty if the server chooses.
    var scope: String { scheme.scope(of: flow) }
}

extension OAuth2Auth {
    /// The scopes that a flow requests; see ``TokenEndpoint/scope``.
    func scope(of flow: AuthFlow) -> String {
        let scopes = flow.parameters("scope")
        return scopes.isEmpty ? scope ?? "" : scopes.joined(separator: " ")
    }

    /// The setting that proves the client's identity.
    fileprivate var clientSetting: String {
        clientKey != nil ? "client-key" : clientSecret != nil ? "client-secret" : "client-id"
    }
}
