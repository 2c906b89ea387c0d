internal import NevodHost
internal import NevodSupport

/// An endpoint that takes a token in a form: the common part of introspection and revocation.
struct TokenEndpoint: Sendable {
    let url: String
    let authentication: ClientAuthentication
    let provider: NetworkProvider
    let timeout: Duration

    /// A token may be asked about, and revoked, more than once.
    private static let retries = RetryPolicy(maxAttempts: 3, maxDelay: .seconds(5), retriesUnsafeMethods: true)
    private static let maxResponseSize = 64 << 10

    /// Sends a token and returns the body of the response, whose status is 200 … 299.
    func post(_ token: String, _ hint: TokenTypeHint?) async throws -> [UInt8] {
        let response = try await provider.send(
            request(token, hint),
            // Without redirects: the form would go to a server that the app has not named.
            RequestOptions(
                timeout: timeout, delivery: .collected(limit: Self.maxResponseSize), redirects: .none, retryPolicy: Self.retries))
        let body = try await response.body.collect(upTo: Self.maxResponseSize)
        // Without the body, which may repeat the token.
        let head = HTTPResponse(
            version: response.version, status: response.status, reason: response.reason, headers: response.headers,
            body: .bytes([]))
        guard let error = NetworkError(head) else { return body }
        if let text = (try? JSONValue(response: body))?["error"]?.string, let code = TokenServiceError.Code(received: text) {
            throw TokenServiceError(code: code, status: response.status, endpoint: String(url.prefix { $0 != "?" }))
        }
        throw error
    }

    private func request(_ token: String, _ hint: TokenTypeHint?) throws(NetworkError) -> HTTPRequest {
        do throws(InvalidRequestError) {
            var request = try HTTPRequest(.post, url)
            guard request.origin.isAuthentic else {
                throw InvalidRequestError(.url(url), "tokens are sent to an https URL only, or to this machine")
            }
            var form = [(name: "token", value: token)]
            if let hint { form.append(("token_type_hint", hint.rawValue)) }
            try authentication.authenticate(&request, &form)
            let items = form.map {
                PercentEncoding.queryItem($0.name.utf8) + [UInt8(ascii: "=")] + PercentEncoding.queryItem($0.value.utf8)
            }
            request.body = .bytes(Array(items.joined(separator: [UInt8(ascii: "&")])))
            try request.setHeader("Content-Type", "application/x-www-form-urlencoded")
            try request.setHeader("Accept", "application/json")
            return request
        } catch {
            throw .invalidURL(error)
        }
    }
}
