internal import NevodOAuth
internal import NevodSupport

/// A response of an authorization server's endpoint, and the errors that it leads to.
struct OAuthResponse {
    let endpoint: EndpointResponse
    private let retryAfter: Duration?
    private let origin: Origin
    private let purpose: String
    private let secrets: [Secret]

    /// - Parameters:
    ///   - origin: the server's origin, for errors.
    ///   - purpose: what the request asked for, in errors such as "the server refused PURPOSE".
    ///   - secrets: values in the request that no error may show.
    init(_ response: HTTPResponse, _ body: [UInt8], from origin: Origin, to purpose: String, hiding secrets: [Secret]) {
        endpoint = body.withUnsafeBytes { EndpointResponse(status: response.status, body: $0) }
        retryAfter = response.retryAfter(now: HostClock.system.now)
        self.origin = origin
        self.purpose = purpose
        self.secrets = secrets
    }

    var status: Int { endpoint.status }
    /// Nil if the body isn't an OAuth response.
    var json: JSONValue? { endpoint.body.json }

    /// Whether the server said that there is nothing at this URL.
    var isMissing: Bool { status == 404 || status == 410 }

    /// Returns the result, or throws the server's error.
    func result() throws(OAuthError) -> JSONValue {
        guard endpoint.isSuccess, let json else { throw failure }
        return json
    }

    /// The error for a result that lacks something.
    func unusable(_ problem: String) -> OAuthError {
        OAuthError(.unavailable, "the response of \(origin) to \(purpose) \(problem)", status: status)
    }

    /// The error for a valid token that this library can't use.
    func unsupported(_ problem: String) -> OAuthError {
        OAuthError(.unsupportedToken, "the response of \(origin) to \(purpose) \(problem)", status: status)
    }

    /// The error for a response that isn't a success. A server that fails, or sends something other than an OAuth response, has
    /// not refused anything.
    var failure: OAuthError {
        let code = endpoint.body.error.flatMap { OAuthErrorCode(received: $0, hiding: secrets) }
        let meaning = endpoint.meaning
        let words = code.map { ": \($0)\(ServerWords.inParentheses(endpoint.body.errorDescription, hiding: secrets))" } ?? ""
        if meaning == .outage {
            return OAuthError(
                .unavailable, "\(origin) can't serve \(purpose) now (status \(status))\(words); \(wait)", serverCode: code,
                status: status, retryAfter: retryAfter)
        }
        guard let code else {
            return OAuthError(
                .unavailable, "the response of \(origin) to \(purpose) is not an OAuth response (status \(status)); \(hint)",
                status: status, retryAfter: retryAfter)
        }
        return OAuthError(
            .refused, "\(origin) refused \(purpose)\(words)\(Self.remedy(after: code, meaning))", serverCode: code,
            status: status, retryAfter: retryAfter)
    }

    private var wait: String {
        guard let retryAfter else { return "try again later" }
        return "try again in \(retryAfter.components.seconds) seconds"
    }

    private var hint: String {
        switch status {
        case 300...399: "redirects of such requests are not followed; check the endpoint's URL"
        case 401: "check the client's identifier and secret"
        case 404, 405, 410: "check the endpoint's URL"
        default: "try again later"
        }
    }

    private static func remedy(after code: OAuthErrorCode, _ meaning: OAuthErrorMeaning) -> String {
        switch meaning {
        case .client where code == .unauthorizedClient: "; allow this client to use the grant at the server"
        case .client: "; check the client's identifier and secret, and how they are sent"
        case .grantType: "; the server doesn't offer this grant"
        case .scope: "; ask for other scopes"
        case .target: "; ask for another resource or audience"
        case .redirectURI: "; register the redirect URI at the server"
        case .refusal: "; log in again"
        case .unfinished where code == .authorizationPending: "; the user has yet to enter the code"
        case .unknown where code == .unsupportedTokenType: "; the server doesn't revoke tokens of this kind"
        case .outage, .unfinished, .unknown, .otherFormat: ""
        }
    }
}

extension OAuthToken {
    /// Reads the response of a token endpoint (RFC 6749 §5.1).
    ///
    /// - Parameter time: when the request was sent, which is the earliest start of the lifetime.
    init(_ response: OAuthResponse, sentAt time: UnixTime) throws(OAuthError) {
        let json = try response.result()
        do throws(TokenResponse.Fault) { try self.init(TokenResponse(json), at: time) } catch {
            switch error {
            case .noAccessToken: throw response.unusable("has no valid access_token; try again later")
            case .otherType:
                throw response.unsupported("has a token_type other than Bearer, the only one that this library supports")
            }
        }
    }
}
