internal import NevodSupport

/// The meaning of a failure for the owner of a token (RFC 6749 §5.2, its extensions, and servers' own codes). This is the
/// project's only such table: a plugin, and a program without one, must end a session for the same reasons.
package enum OAuthErrorMeaning: Sendable {
    /// The server, or a proxy in front of it, is overloaded or broken.
    case outage
    /// The same login or renewal continues with another request.
    case unfinished
    /// The grant is invalid, or no longer valid. Nothing else ends a session.
    case refusal
    /// The client's identifier or proof is wrong; the user's grant may still be valid.
    case client
    /// This setting's value is wrong.
    case grantType, scope, target, redirectURI
    /// The code is not in the table.
    case unknown
    /// The response isn't an OAuth response, such as the page of a server in trouble.
    case otherFormat

    /// - Parameter status: the response's status; nil for a redirect.
    package init(code: String, status: Int?) {
        // Codes are compared as text below. Text outside ASCII must not equal any of them.
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
            // Auth0 rejects a client's secret with this code (in RFC 6749 §5.2, only an invalid client has status 401).
            case "access_denied": status == 401 ? .client : .refusal
            case "invalid_grant", "expired_token": .refusal
            // OpenID Connect Core §3.1.2.6: only a person can help.
            case "interaction_required", "login_required", "consent_required", "account_selection_required": .refusal
            // From RFC 6750. Cloud Foundry's UAA uses it here too.
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
