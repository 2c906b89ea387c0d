internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// A response from one of the server's endpoints, and the errors that it leads to.
struct ServerAnswer: Sendable {
    let response: EndpointResponse
    /// The wait that the server asks for, in seconds; nil if it doesn't ask (RFC 9110 §10.2.3).
    let retryAfter: Int64?
    /// The setting to blame if the server doesn't accept the client's proof.
    var clientSetting = "client-id"
    /// Advice on what else to check in that case.
    var clientAdvice = "check it, and client-auth"
    /// The request's secrets, which the server's words may repeat.
    var secrets: [Secret] = []

    /// - Parameter now: seconds since 1970 UTC. A date in `Retry-After` counts from it if the response has no `Date`.
    init(_ response: FlowResponse, at now: Int64) {
        let endpoint = response.body.withUnsafeBytes { body in
            EndpointResponse(
                status: response.status, body: body, hasChallenge: response.header("WWW-Authenticate") != nil,
                isFromProxy: response.isFromProxy)
        }
        let wait = RetryAfter.seconds(
            response.header("Retry-After"), sent: response.header("Date"), now: now,
            date: { TimeFormat.httpDate.unixNanoseconds($0).map { $0 / 1_000_000_000 } })
        self.init(endpoint, retryAfter: wait)
    }

    init(_ response: EndpointResponse, retryAfter: Int64? = nil) {
        self.response = response
        self.retryAfter = retryAfter
    }

    /// Nil if the body isn't an OAuth response.
    var json: JSONValue? { response.body.json }

    /// The result.
    ///
    /// - Parameter what: the subject of the request, as in "the server refused WHAT".
    /// - Throws: ``SchemeError/denied(_:detail:)`` if the grant is no longer valid; ``SchemeError/badSetting(_:_:)`` if the
    ///   client isn't accepted, because the user's grant may be valid; ``SchemeError/unavailable(_:detail:)`` if a later attempt
    ///   may succeed.
    func success(_ what: String) throws(SchemeError) -> JSONValue {
        if response.isSuccess, let json { return json }
        throw failure(of: what)
    }

    func failure(of what: String) -> SchemeError {
        func notAccepted(_ setting: String, _ advice: String = "") -> SchemeError {
            .badSetting(setting, "was not accepted by the server with \(what): \(reason)\(advice)")
        }
        return switch response.meaning {
        case .outage, .unfinished: .unavailable("the server can't serve \(what) now: \(reason)\(askedWait)")
        case .refusal: .denied("the server refused \(what): \(reason)")
        case .client: notAccepted(clientSetting, "; \(clientAdvice)")
        case .grantType: notAccepted("grant")
        case .scope: notAccepted("scope")
        case .target: notAccepted("resource or audience")
        case .redirectURI: notAccepted("redirect-uri")
        case .unknown: .unavailable("the server refused \(what): \(reason)\(askedWait)")
        case .otherFormat: .unavailable("the server's response to \(what) is not an OAuth response (status \(response.status))")
        }
    }

    /// The server's words, safe to show: `invalid_grant (Token has expired)`.
    private var reason: String {
        let status = "status \(response.status)"
        guard let error = response.body.error else { return response.isFromProxy ? "\(status) of a proxy" : status }
        let isKnown = OAuthErrorMeaning(code: error, status: nil) != .unknown
        let code = isKnown ? error : ServerWords.text(error, hiding: secrets)
        let words = ServerWords.inParentheses(response.body.errorDescription, hiding: secrets)
        if code.isEmpty { return status + words }
        return (response.status / 100 == 5 || response.status == 429 ? "\(status), " : "") + code + words
    }

    private var askedWait: String {
        guard let retryAfter, retryAfter > 0 else { return "" }
        return "; it asks to wait for \(retryAfter) s"
    }
}

extension FlowResponse {
    /// The code of the error in the body; empty for an error without a code, nil if the body reports none.
    var errorCode: String? { body.withUnsafeBytes { EndpointBody($0) }.error }
}
