/// The meaning of an error's code for the owner of a token (RFC 6749 §5.2 and its extensions, and the codes of servers' own). The one
/// table of the project: a plugin and a program without one must end a session for the same reasons.
package enum OAuthErrorMeaning: Sendable {
    /// The server is overloaded or broken.
    case outage
    /// The same login or renewal goes on with another request.
    case unfinished
    /// The grant is not, or no longer, valid. Nothing else ends a session.
    case refusal
    /// The client's identifier or proof is wrong; the user's grant may still be valid.
    case client
    /// This setting's value is wrong.
    case grantType, scope, target, redirectURI
    /// The code is not in the table.
    case unknown

    /// - Parameter status: of the response; nil for a redirect.
    package init(code: String, status: Int?) {
        // Compared as text below: what is not ASCII equals none of them.
        guard code.utf8.allSatisfy({ $0 < 0x80 }) else {
            self = .unknown
            return
        }
        self =
            switch code {
            case "temporarily_unavailable", "server_error", "slow_down": .outage
            // Slack.
            case "ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout": .outage
            // RFC 8628 §3.5, RFC 9449 §8.
            case "authorization_pending", "use_dpop_nonce": .unfinished
            // Auth0 refuses a client's secret so (RFC 6749 §5.2 has the status 401 for clients alone).
            case "access_denied": status == 401 ? .client : .refusal
            case "invalid_grant", "expired_token": .refusal
            // OpenID Connect Core §3.1.2.6: only a person can help.
            case "interaction_required", "login_required", "consent_required", "account_selection_required": .refusal
            // RFC 6750's, which Cloud Foundry's UAA uses here as well.
            case "invalid_token": .refusal
            // GitHub.
            case "bad_refresh_token", "bad_verification_code": .refusal
            // Slack.
            case "token_expired", "token_revoked", "invalid_refresh_token", "invalid_code", "code_already_used",
                "account_inactive":
                .refusal
            case "invalid_client", "unauthorized_client", "incorrect_client_credentials": .client
            // Slack.
            case "invalid_client_id", "bad_client_secret", "invalid_auth": .client
            case "unsupported_grant_type": .grantType
            case "invalid_scope": .scope
            case "invalid_target": .target
            case "redirect_uri_mismatch", "bad_redirect_uri": .redirectURI
            default: .unknown
            }
    }
}
