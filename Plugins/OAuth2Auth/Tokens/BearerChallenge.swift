internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// A challenge for a bearer token or a bound token, with the reason why an API refuses it (RFC 6750 §3, RFC 9449 §7.1, RFC 9470 §3,
/// RFC 9728 §5.1).
struct BearerChallenge: Equatable, Sendable {
    /// The errors that the scheme handles itself instead of the host.
    enum Fault: Equatable, Sendable {
        /// The token allows less than the request needs (RFC 6750 §3.1). A renewal gives the same token again.
        case insufficientScope
        /// The person must log in again, or in another way (RFC 9470 §3).
        case insufficientAuthentication
        /// The request itself is wrong, whatever the token.
        case invalidRequest
        case other
    }

    let fault: Fault
    /// The scopes that the request needs; empty if the API doesn't say.
    let scope: String
    /// The kinds of login that the API accepts, the best first, separated by spaces; nil if it doesn't say.
    let acrValues: String?
    /// The most seconds since the login; nil if the API doesn't say.
    let maxAge: Int64?
    /// The address of the API's metadata; nil if the API doesn't say.
    let resourceMetadata: String?

    /// Reads the first challenge that concerns these tokens; prefers one with an error.
    ///
    /// - Parameter lines: the values of the response's WWW-Authenticate lines.
    init?(_ lines: [String]) {
        let challenges = Challenge.parse(lines).filter { $0.isOf("Bearer") || $0.isOf("DPoP") }
        guard let challenge = challenges.first(where: { $0["error"] != nil }) ?? challenges.first else { return nil }
        let error = challenge["error"] ?? ""
        if error.utf8.elementsEqual("insufficient_scope".utf8) {
            fault = .insufficientScope
        } else if error.utf8.elementsEqual("insufficient_user_authentication".utf8) {
            fault = .insufficientAuthentication
        } else if error.utf8.elementsEqual("invalid_request".utf8) {
            fault = .invalidRequest
        } else {
            fault = .other
        }
        scope = challenge["scope"] ?? ""
        acrValues = challenge["acr_values"].flatMap { Self.isParameter($0) ? $0 : nil }
        maxAge = challenge["max_age"].flatMap { Int64($0) }.flatMap { (0...Self.longestAge).contains($0) ? $0 : nil }
        resourceMetadata = challenges.lazy.compactMap { $0["resource_metadata"] }.first
    }

    /// A hundred years.
    private static let longestAge: Int64 = 3_155_760_000

    /// Whether a text may be a parameter of an authorization request: printable ASCII, of bounded length.
    private static func isParameter(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isPrintable }
    }
}

extension OAuth2Auth {
    /// Decides about the challenge of an API that refuses the token.
    ///
    /// - Returns: ``Verdict/nothing`` for a challenge that the host handles: it renews the token after a 401, and passes any other
    ///   status to the caller.
    func bearerVerdict(
        on response: borrowing ResponseView, _ request: borrowing RequestView, _ token: AccessToken?
    ) throws(SchemeError) -> Verdict {
        guard let token, !response.isFromProxy, let challenge = BearerChallenge(response.headers(named: "WWW-Authenticate"))
        else { return .nothing }
        switch challenge.fault {
        case .insufficientScope:
            // After another status, the host doesn't renew the token, and the caller sees the API's response.
            guard response.status == 401 else { return .nothing }
            throw insufficientScope(challenge, token.stored)
        case .insufficientAuthentication:
            // A 403 would be possible, but only a 401 says that another token helps (RFC 9470 §3).
            guard response.status == 401 else { return .nothing }
            try checkStepUp(challenge, token.stored, attempt: request.attempt)
            return .challenge
        case .invalidRequest: return .nothing
        case .other:
            guard response.status == 401, challenge.resourceMetadata != nil else { return .nothing }
            // An expired token is renewed without reading the API's metadata. The metadata is read before a person is asked to log
            // in, even if a renewed token was refused. After a login that the API demanded, no further login is requested.
            if request.attempt > 1, token.stored.isSteppedUp { return .nothing }
            let needsPerson = token.stored.refreshToken == nil && grant.needsPerson
            return request.attempt > 1 || needsPerson ? .challenge : .nothing
        }
    }

    private func insufficientScope(_ challenge: BearerChallenge, _ token: StoredToken) -> SchemeError {
        let needed = challenge.scope.isEmpty ? "more scopes" : "the scope \(ServerWords.quoted(challenge.scope))"
        let granted = token.scope.map { ", but the token has \(ServerWords.quoted($0))" } ?? ""
        return .refused(
            "the API demands \(needed)\(granted) (insufficient_scope): add what is missing to the setting scope, or to this request's "
                + "parameter scope")
    }

    func challenge(_ flow: AuthFlow, _ response: FlowResponse, _ token: AccessToken?) async throws(SchemeError) -> IssuedToken {
        let challenge = BearerChallenge(response.headers(named: "WWW-Authenticate"))
        if let challenge, challenge.fault == .insufficientAuthentication {
            return try await logIn(flow, as: challenge, token?.stored)
        }
        if let url = challenge?.resourceMetadata { try await checkIssuers(flow, at: url, named: response) }
        // The host logs in, unless the refused token is already new.
        throw .badToken("the API refuses it")
    }
}
