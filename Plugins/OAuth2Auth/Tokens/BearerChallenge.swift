internal import NevodPluginKit
internal import NevodSupport

/// Whether a login that an API demands may be started in the middle of a request.
enum StepUp: String, CaseIterable, SettingValue {
    /// By asking the person, once for each request.
    case ask
    /// Not at all: the request fails.
    case never
}

/// A challenge for a bearer token or a bound one: why an API refuses it (RFC 6750 §3, RFC 9449 §7.1, RFC 9470 §3, RFC 9728 §5.1).
struct BearerChallenge: Equatable, Sendable {
    /// Those of the errors that the client doesn't leave to the host.
    enum Fault: Equatable, Sendable {
        /// The token allows less than the request needs (RFC 6750 §3.1). A renewal gives the same token again.
        case insufficientScope
        /// The person must log in again, or by other means (RFC 9470 §3).
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

    /// Reads the first challenge that concerns these tokens, at best one with an error.
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
        (1...1024).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }

    /// The demanded login, for an error.
    fileprivate var demand: String {
        var parts: [String] = []
        if let acrValues { parts.append("acr_values=\(ServerText.quoted(acrValues))") }
        if let maxAge { parts.append("max_age=\(maxAge)") }
        return parts.isEmpty ? "another login" : "a login with \(parts.joined(separator: " and "))"
    }
}

extension OAuth2Auth {
    /// Decides about the challenge of an API that refuses the token.
    ///
    /// - Returns: ``Verdict/nothing`` for those that the host handles: a 401 renews the token, and any other status is the caller's.
    func bearerVerdict(
        on response: borrowing ResponseView, _ request: borrowing RequestView, _ token: AccessToken?
    ) throws(SchemeError) -> Verdict {
        guard let token, !response.isFromProxy, let challenge = BearerChallenge(response.headers(named: "WWW-Authenticate"))
        else { return .nothing }
        switch challenge.fault {
        case .insufficientScope:
            // At another status the host renews nothing, and the caller sees what the API says.
            guard response.status == 401 else { return .nothing }
            throw insufficientScope(challenge, token.stored)
        case .insufficientAuthentication:
            // A 403 would do as well, but only a 401 says that another token helps (RFC 9470 §3).
            guard response.status == 401 else { return .nothing }
            try checkStepUp(challenge, token.stored, attempt: request.attempt)
            return .challenge
        case .invalidRequest: return .nothing
        case .other:
            guard response.status == 401, challenge.resourceMetadata != nil else { return .nothing }
            // An expired token is renewed without a look at the API's metadata. That comes before a person is asked to log in, and after
            // a renewed token is refused, too. After a login that the API has demanded, no further one is asked for.
            if request.attempt > 1, token.stored.isSteppedUp { return .nothing }
            let needsPerson = token.stored.refreshToken == nil && grant.needsPerson
            return request.attempt > 1 || needsPerson ? .challenge : .nothing
        }
    }

    private func insufficientScope(_ challenge: BearerChallenge, _ token: StoredToken) -> SchemeError {
        let needed = challenge.scope.isEmpty ? "another scope" : "the scope \(ServerText.quoted(challenge.scope))"
        let granted = token.scope.map { ", and the token has \(ServerText.quoted($0))" } ?? ""
        return .refused(
            "the API demands \(needed)\(granted) (insufficient_scope): add what is missing to the setting scope, or to this request's "
                + "parameter scope")
    }

    /// - Throws: if a login isn't wanted, isn't possible, or was tried for this request.
    private func checkStepUp(_ challenge: BearerChallenge, _ token: StoredToken, attempt: Int) throws(SchemeError) {
        guard stepUp == .ask else {
            throw .refused("the API demands \(challenge.demand), and the setting step-up is never: set it to ask")
        }
        guard grant == .code else {
            throw .refused("the API demands \(challenge.demand), which only a login with grant=code can meet")
        }
        guard attempt == 1 || !token.isSteppedUp else {
            throw .refused("the API still demands \(challenge.demand) after such a login: ask its owner which logins it accepts")
        }
    }

    func challenge(_ flow: AuthFlow, _ response: FlowResponse, _ token: AccessToken?) async throws(SchemeError) -> IssuedToken {
        let challenge = BearerChallenge(response.headers(named: "WWW-Authenticate"))
        if let challenge, challenge.fault == .insufficientAuthentication {
            return try await logIn(flow, as: challenge, token?.stored)
        }
        if let url = challenge?.resourceMetadata { try await checkIssuers(flow, at: url, named: response) }
        // The host logs in, unless the refused token is new already.
        throw .badToken("the API refuses it")
    }

    /// Logs in as the API demands (RFC 9470 §4).
    ///
    /// - Throws: an error that keeps the old token, which other requests can still use.
    private func logIn(
        _ flow: AuthFlow, as challenge: BearerChallenge, _ old: StoredToken?
    ) async throws(SchemeError) -> IssuedToken {
        var scheme = self
        if let acrValues = challenge.acrValues { scheme.setAuthorization("acr_values", acrValues) }
        if let maxAge = challenge.maxAge { scheme.setAuthorization("max_age", "\(maxAge)") }
        let issued: IssuedToken
        do throws(SchemeError) { issued = try await scheme.login(flow) } catch {
            guard error.isDenied else { throw error }
            throw .unavailable("the API demands \(challenge.demand), and it failed: \(error.message)")
        }
        var token = try issued.bytes.withUnsafeBytes { bytes throws(SchemeError) in
            try StoredToken(decoding: Span(_unsafeBytes: bytes))
        }
        // Without an ID token of either login, nothing says who it was.
        if let subject = old?.subject, token.subject?.utf8.elementsEqual(subject.utf8) != true {
            throw .unavailable(
                "the API demands \(challenge.demand), and the login isn't known to be of the same account: log in with that "
                    + "one, with openid in scope")
        }
        token.isSteppedUp = true
        return token.issued
    }
}
