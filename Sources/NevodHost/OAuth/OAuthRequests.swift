internal import NevodSupport

/// Sends requests to the endpoints of an authorization server. The responses are read whole, up to a limit.
struct OAuthRequests: Sendable {
    let provider: NetworkProvider
    let timeout: Duration

    private static let largestResponse = 1 << 20

    /// Without redirects, which would take the form to a server that nobody has named, and without retries: an authorization
    /// code and a rotated refresh token may be sent once, and a second time would end the session (RFC 6749 §4.1.2, RFC 9700
    /// §4.14.2).
    private func options(for method: HTTPMethod) -> RequestOptions {
        var options = RequestOptions(
            timeout: timeout, delivery: .collected(limit: Self.largestResponse), redirects: .none, retryPolicy: RetryPolicy.none)
        options.transfer.sendsOnce = method == .post
        return options
    }

    /// Sends a form.
    ///
    /// - Parameters:
    ///   - client: the client's secret, which goes into the Authorization field; nil for none.
    ///   - purpose: names in errors what was asked for, as in "the server refused PURPOSE".
    func post(
        _ fields: ParameterList, to url: String, as client: (id: String, secret: String)? = nil, for purpose: String
    ) async throws(OAuthError) -> OAuthResponse {
        let secrets = fields.secrets + (client.map { [$0.secret] } ?? [])
        return try await send(.post, url, purpose, secrets: secrets) { request throws(InvalidRequestError) in
            request.body = .bytes(fields.form)
            try request.setHeader("Content-Type", "application/x-www-form-urlencoded")
            guard let client else { return }
            // Both are encoded as in a form first (RFC 6749 §2.3.1).
            let pair =
                PercentEncoding.queryItem(client.id.utf8) + [UInt8(ascii: ":")] + PercentEncoding.queryItem(client.secret.utf8)
            try request.setHeader("Authorization", "Basic \(pair.withUnsafeBytes { Base64.encoded($0) })")
        }
    }

    func get(_ url: String, for purpose: String) async throws(OAuthError) -> OAuthResponse {
        try await send(.get, url, purpose, secrets: []) { _ throws(InvalidRequestError) in }
    }

    private func send(
        _ method: HTTPMethod, _ url: String, _ purpose: String, secrets: [String],
        _ edit: (inout HTTPRequest) throws(InvalidRequestError) -> Void
    ) async throws(OAuthError) -> OAuthResponse {
        let request: HTTPRequest
        do throws(InvalidRequestError) {
            var made = try HTTPRequest(method, url)
            try made.setHeader("Accept", "application/json")
            try edit(&made)
            // No interceptor waits for a token: this request may be its renewal.
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
    /// The values that no error may show: all but those that are known to be harmless.
    fileprivate var secrets: [String] {
        parameters.filter { !Self.harmless.contains($0.name) && !$0.value.isEmpty }.map(\.value)
    }

    private static let harmless: Set<String> = [
        "grant_type", "client_id", "redirect_uri", "scope", "audience", "resource", "token_type_hint", "username",
    ]
}
