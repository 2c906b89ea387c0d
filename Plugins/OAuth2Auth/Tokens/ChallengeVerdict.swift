internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

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
