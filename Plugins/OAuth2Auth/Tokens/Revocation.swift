internal import NevodPluginKit
internal import NevodSupport

/// The tokens that a logout revokes at the server (RFC 7009).
enum RevokedTokens: String, CaseIterable, SettingValue {
    /// The refresh token, then the access token: not every server ends one with the other (RFC 7009 §2.1).
    case both
    /// The refresh token; without one, the access token.
    case refreshToken = "refresh-token"
    case never
}

extension OAuth2Auth {
    /// Revokes a session's tokens. A server without an address for it isn't told.
    func revoke(_ flow: AuthFlow, _ token: StoredToken) async throws(SchemeError) {
        guard revokedTokens != .never, grant != .metadata else { return }
        let endpoints = try await endpoints(flow, of: token, wanting: .revocation)
        guard let url = endpoints.revocation else { return }
        let server = TokenEndpoint(of: self, flow, endpoints)
        guard let refreshToken = token.refreshToken else {
            return try await server.revoke(token.accessToken, "access_token", at: url)
        }
        do {
            try await server.revoke(refreshToken, "refresh_token", at: url)
        } catch  where !error.isTransport && revokedTokens == .both {
            // The access token is worth an attempt all the same. The refresh token outlives it, so its error counts.
            _ = try? await server.revoke(token.accessToken, "access_token", at: url)
            throw error
        }
        let isExpired = token.expiresAt.map { $0 <= flow.unixSeconds } ?? false
        guard revokedTokens == .both, !isExpired else { return }
        try await server.revoke(token.accessToken, "access_token", at: url, afterRefreshToken: true)
    }
}

extension TokenEndpoint {
    /// - Parameter afterRefreshToken: whether the session's refresh token is revoked. A server which can't revoke access tokens has
    ///   then done what it can.
    fileprivate func revoke(
        _ token: Secret, _ kind: String, at url: String, afterRefreshToken: Bool = false
    ) async throws(SchemeError) {
        let answer = try await ask(["token": .secret(token), "token_type_hint": .text(kind)], at: url)
        if answer.isSuccess || answer.deniesKnowingToken || afterRefreshToken && answer.refusesKindOfToken { return }
        throw answer.failure(of: kind == "access_token" ? "the access token's revocation" : "the refresh token's revocation")
    }
}
