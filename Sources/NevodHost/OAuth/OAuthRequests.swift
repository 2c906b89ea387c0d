internal import NevodOAuth
internal import NevodSupport

/// Sends requests to the endpoints of an authorization server. The responses are read whole, up to a limit.
struct OAuthRequests: Sendable {
    let provider: NetworkProvider
    let timeout: Duration

    private static let largestResponse = 1 << 20

    /// No redirects, because they would take the form to a server that the program has not named. No retries, because an
    /// authorization code or a rotated refresh token may be sent only once; a second time would end the session (RFC 6749 §4.1.2,
    /// RFC 9700 §4.14.2).
    private func options(for method: HTTPMethod) -> RequestOptions {
        var options = RequestOptions(
            timeout: timeout, delivery: .collected(limit: Self.largestResponse), redirects: .none, retryPolicy: RetryPolicy.none)
        options.transfer.sendsOnce = method == .post
        return options
    }

    /// Sends a form.
    ///
    /// - Parameters:
    ///   - client: identifies and authenticates the client.
    ///   - purpose: what the request asks for, in errors such as "the server refused PURPOSE".
    func post(
        _ fields: ParameterList, to url: String, as client: ClientIdentity, for purpose: String
    ) async throws(OAuthError) -> OAuthResponse {
        var all = fields
        for field in client.fields { all.append(field.name, field.text) }
        let (form, secrets) = (all.form, fields.secrets + (client.secret.map { [$0] } ?? []))
        return try await send(.post, url, purpose, secrets: secrets) { request throws(InvalidRequestError) in
            request.body = .bytes(form)
            try request.setHeader("Content-Type", "application/x-www-form-urlencoded")
            if let authorization = client.authorization { try request.setHeader("Authorization", authorization) }
        }
    }

    func get(_ url: String, for purpose: String) async throws(OAuthError) -> OAuthResponse {
        try await send(.get, url, purpose, secrets: []) { _ throws(InvalidRequestError) in }
    }

    private func send(
        _ method: HTTPMethod, _ url: String, _ purpose: String, secrets: [Secret],
        _ edit: (inout HTTPRequest) throws(InvalidRequestError) -> Void
    ) async throws(OAuthError) -> OAuthResponse {
        let request: HTTPRequest
        do throws(InvalidRequestError) {
            var made = try HTTPRequest(method, url)
            try made.setHeader("Accept", "application/json")
            try edit(&made)
            // This route keeps interceptors from waiting for a token: this request may be the token's renewal.
            made.route = RouteDescription(
                domain: "oauth", of: Self.self, endpoint: made.target, method: method, auth: .none, type: Self.self)
            request = made
        } catch {
            throw OAuthError(.invalidSetting, "the request for \(purpose) can't be sent: \(error)")
        }
        do throws(NetworkError) {
            let response = try await provider.with(last: OwnCredentials(of: request)).send(request, options(for: method))
            let body: [UInt8]
            do { body = try await response.body.collect(upTo: Self.largestResponse) } catch { throw NetworkError(error) }
            return OAuthResponse(response, body, from: request.origin, to: purpose, hiding: secrets)
        } catch {
            throw Self.failure(error, request.origin, purpose)
        }
    }

    private static func failure(_ error: NetworkError, _ origin: Origin, _ purpose: String) -> OAuthError {
        if case .cancelled = error { return OAuthError(.cancelled, "\(purpose) was cancelled", underlying: error) }
        return OAuthError(.unavailable, "\(origin) could not be asked for \(purpose): \(error)", underlying: error)
    }
}

extension ParameterList {
    /// The values that no error may show: all except known harmless ones.
    fileprivate var secrets: [Secret] {
        parameters.filter { !Self.harmless.contains($0.name) && !$0.value.isEmpty }.map { Secret($0.value) }
    }

    private static let harmless: Set<String> = [
        "grant_type", "client_id", "redirect_uri", "scope", "audience", "resource", "token_type_hint", "username",
    ]
}

/// Removes credentials that a provider's other interceptors have written on a request: they are for the API, not for its
/// authorization server. Removes header lines with a secret's name, everything that a token wrote, and changes of the URL. Other
/// lines stay.
struct OwnCredentials: RequestInterceptor {
    private let url: String
    private let lines: [HTTPHeaders.Element]

    var phase: TokenPhase { .signature }

    init(of request: HTTPRequest) {
        url = request.url
        lines = request.headers.filter { CredentialNames.standard.contains($0.name.utf8) }
    }

    func adapt(_ exchange: inout Exchange) async throws {
        exchange.request.stripCredentials()
        for line in lines { try exchange.request.addHeader(line.name, line.value) }
        guard !exchange.request.url.utf8.elementsEqual(url.utf8) else { return }
        try exchange.request.redirect(to: url, leavingOut: [])
        exchange.request.removeHeader("Host")
        exchange.request.materialize()
    }
}
