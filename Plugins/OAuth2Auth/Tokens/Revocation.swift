internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// The tokens that a logout revokes at the server (RFC 7009).
enum RevokedTokens: String, CaseIterable, SettingValue {
    /// The refresh token, then the access token, because not every server revokes one with the other (RFC 7009 §2.1).
    case both
    /// The refresh token, or the access token if there is no refresh token.
    case refreshToken = "refresh-token"
    case never
}

extension OAuth2Auth {
    /// Revokes a session's tokens, if the server has an endpoint for it.
    func revoke(_ flow: AuthFlow, _ token: StoredToken) async throws(SchemeError) {
        guard revokedTokens != .never, grant != .metadata else { return }
        let endpoints = try await endpoints(flow, of: token, wanting: .revocation)
        guard let url = endpoints.revocation else { return }
        let server = TokenEndpoint(of: self, flow, endpoints)
        let isExpired = token.expiresAt.map { $0 <= flow.unixSeconds } ?? false
        var revocation = Revocation(
            hasRefreshToken: token.refreshToken != nil, sendsAccessToken: revokedTokens == .both && !isExpired)
        var failure: SchemeError?
        while let kind = revocation.next {
            do throws(SchemeError) {
                let secret = kind == .refresh ? token.refreshToken ?? token.accessToken : token.accessToken
                let answer = try await server.ask(["token": .secret(secret), "token_type_hint": .text(kind.rawValue)], at: url)
                if revocation.take(answer.response) { continue }
                failure = failure ?? answer.failure(of: "the \(kind == .access ? "access" : "refresh") token's revocation")
            } catch {
                throw failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
