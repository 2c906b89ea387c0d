internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// Whether a request may start a login that an API demands.
enum StepUp: String, CaseIterable, SettingValue {
    /// Asks the person, once for each request.
    case ask
    /// Never. The request fails.
    case never
}

extension OAuth2Auth {
    /// - Throws: if a login isn't wanted, isn't possible, or was already tried for this request.
    func checkStepUp(_ challenge: BearerChallenge, _ token: StoredToken, attempt: Int) throws(SchemeError) {
        guard stepUp == .ask else {
            throw .refused("the API demands \(challenge.demand), but the setting step-up is never: set it to ask")
        }
        guard grant == .code else {
            throw .refused("the API demands \(challenge.demand), which only a login with grant=code can meet")
        }
        guard attempt == 1 || !token.isSteppedUp else {
            throw .refused("the API still demands \(challenge.demand) after such a login: ask its owner which logins it accepts")
        }
    }

    /// Logs in as the API demands (RFC 9470 §4).
    ///
    /// - Throws: an error that keeps the old token, which other requests can still use.
    func logIn(
        _ flow: AuthFlow, as challenge: BearerChallenge, _ old: StoredToken?
    ) async throws(SchemeError) -> IssuedToken {
        var scheme = self
        if let acrValues = challenge.acrValues { scheme.setAuthorization("acr_values", acrValues) }
        if let maxAge = challenge.maxAge { scheme.setAuthorization("max_age", "\(maxAge)") }
        let issued: IssuedToken
        do throws(SchemeError) { issued = try await scheme.login(flow) } catch {
            guard error.isDenied else { throw error }
            throw .unavailable("the API demands \(challenge.demand), but the login failed: \(error.message)")
        }
        var token = try issued.bytes.withUnsafeBytes { bytes throws(SchemeError) in
            try StoredToken(decoding: Span(_unsafeBytes: bytes))
        }
        // Without ID tokens of both logins, nothing shows that the account is the same.
        if let subject = old?.subject, token.subject?.utf8.elementsEqual(subject.utf8) != true {
            throw .unavailable(
                "the API demands \(challenge.demand), but the login isn't known to be for the same account: log in with that "
                    + "account, with openid in scope")
        }
        token.isSteppedUp = true
        return token.issued
    }
}

extension BearerChallenge {
    /// The demanded login, for an error.
    var demand: String {
        var parts: [String] = []
        if let acrValues { parts.append("acr_values=\(ServerWords.quoted(acrValues))") }
        if let maxAge { parts.append("max_age=\(maxAge)") }
        return parts.isEmpty ? "another login" : "a login with \(parts.joined(separator: " and "))"
    }
}
