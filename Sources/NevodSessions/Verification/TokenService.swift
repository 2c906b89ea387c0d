internal import NevodHost
internal import NevodOAuth
internal import NevodStorage
internal import NevodSupport

/// A server's endpoint that takes a token in a form: the common part of introspection and revocation. Tokens are sent only over TLS
/// or within this machine, no redirect is followed, and errors never show the token.
struct TokenService: Sendable {
    let url: String
    let authentication: ClientAuthentication
    let provider: NetworkProvider
    let timeout: Duration

    /// Introspection and revocation can be repeated without harm.
    private static let retries = RetryPolicy(maxAttempts: 3, maxDelay: .seconds(5), retriesUnsafeMethods: true)
    private static let maxResponseSize = 64 << 10

    /// A response, and the error that it means.
    struct Reply {
        let response: EndpointResponse
        let body: [UInt8]
        /// Nil for a success.
        let failure: (any Error)?
    }

    /// Sends a token.
    func post(_ token: String, _ hint: TokenTypeHint?) async throws -> Reply {
        let client = authentication.identity
        let response = try await provider.send(
            request(token, hint, client),
            // Follows no redirect, which would send the form to a server that the app hasn't named.
            RequestOptions(
                timeout: timeout, delivery: .collected(limit: Self.maxResponseSize), redirects: .none, retryPolicy: Self.retries))
        let body = try await response.body.collect(upTo: Self.maxResponseSize)
        let reply = body.withUnsafeBytes { EndpointResponse(status: response.status, body: $0) }
        let secrets = [Secret(token), client.secret].compactMap(\.self)
        return Reply(response: reply, body: body, failure: failure(reply, response, hiding: secrets))
    }

    private func failure(_ reply: EndpointResponse, _ response: HTTPResponse, hiding secrets: [Secret]) -> (any Error)? {
        guard !reply.isSuccess else { return nil }
        if let code = reply.body.error.flatMap({ ServerWords.code($0, hiding: secrets) }) {
            return TokenServiceError(
                code: TokenServiceError.Code(rawValue: code), status: reply.status, endpoint: String(url.prefix { $0 != "?" }))
        }
        // Leaves out the body, which may repeat the token.
        let head = HTTPResponse(
            version: response.version, status: response.status, reason: response.reason, headers: response.headers,
            body: .bytes([]))
        return NetworkError(head) ?? NetworkError.invalidResponse
    }

    private func request(_ token: String, _ hint: TokenTypeHint?, _ client: ClientIdentity) throws(NetworkError) -> HTTPRequest {
        do throws(InvalidRequestError) {
            var request = try HTTPRequest(.post, url)
            guard request.origin.isAuthentic else {
                throw InvalidRequestError(.url(url), "tokens are sent only over https, or to this machine")
            }
            var form = [("token", token)]
            if let hint { form.append(("token_type_hint", hint.rawValue)) }
            for field in client.fields { form.append((field.name, field.text)) }
            request.body = .bytes(ParameterList(form).form)
            if let authorization = client.authorization { try request.setHeader("Authorization", authorization) }
            try request.setHeader("Content-Type", "application/x-www-form-urlencoded")
            try request.setHeader("Accept", "application/json")
            return request
        } catch {
            throw .invalidURL(error)
        }
    }
}

/// The kind of a token, as a hint for the server's search (RFC 7009 §2.1). A server may ignore it.
public struct TokenTypeHint: RawRepresentable, Sendable, Hashable {
    /// The text that is sent.
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// `access_token`.
    public static let accessToken = TokenTypeHint(rawValue: "access_token")
    /// `refresh_token`.
    public static let refreshToken = TokenTypeHint(rawValue: "refresh_token")
}

/// A refusal by an introspection or revocation endpoint, with the endpoint's code (RFC 6749 §5.2).
public struct TokenServiceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason for a refusal.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The server's text, such as `invalid_client`.
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The server doesn't know the client, or its credential is wrong.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// A parameter is missing, or occurs twice.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The client may not use the endpoint.
        public static let unauthorizedClient = Code(rawValue: "unauthorized_client")
        /// The server doesn't revoke tokens of this kind (RFC 7009 §2.2.1).
        public static let unsupportedTokenType = Code(rawValue: "unsupported_token_type")
    }

    /// The reason.
    public let code: Code
    /// The status of the response.
    public let status: Int
    /// The endpoint's URL, without its query.
    public let endpoint: String

    public var description: String {
        let remedy =
            switch code {
            case .invalidClient: "; check the client's identifier and secret"
            case .unauthorizedClient: "; allow this client to use the endpoint, in the server's settings"
            case .unsupportedTokenType: "; the server doesn't revoke tokens of this kind"
            default: ""
            }
        return "\(endpoint) refused the request: \(code.rawValue) (status \(status))\(remedy)"
    }
}
