internal import NevodSupport

/// The tokens that a logout revokes (RFC 7009): first the refresh token, which ends its grant. Then the access token, for servers
/// that don't end it with the grant (§2.1), even if the server refused to revoke the refresh token.
package struct Revocation: Sendable {
    /// The kind of a token, as its hint for the server (§2.1).
    package enum Token: String, Sendable {
        case refresh = "refresh_token"
        case access = "access_token"
    }

    /// The token to send; nil if there is no other.
    package private(set) var next: Token?
    private let hasRefreshToken: Bool
    private let sendsAccessToken: Bool

    /// - Parameter sendsAccessToken: whether the access token is sent after the refresh token.
    package init(hasRefreshToken: Bool, sendsAccessToken: Bool = true) {
        self.hasRefreshToken = hasRefreshToken
        self.sendsAccessToken = sendsAccessToken
        next = hasRefreshToken ? .refresh : .access
    }

    /// Takes the response about the ``next`` token.
    ///
    /// - Returns: false if the response is a failure.
    package mutating func take(_ response: EndpointResponse) -> Bool {
        let isLast = next == .access
        next = isLast || !sendsAccessToken ? nil : .access
        // A server that doesn't support this type only lets access tokens expire (§2.2.1).
        return Self.isRevoked(by: response) || isLast && hasRefreshToken && response.body.error == "unsupported_token_type"
    }

    /// Whether a token is revoked after a response. A token that the server doesn't know, or has already revoked, isn't an error
    /// (§2.2).
    package static func isRevoked(by response: EndpointResponse) -> Bool {
        if response.isSuccess { return true }
        guard !response.isFromProxy, response.status < 500 else { return false }
        return response.body.error == "invalid_token" || response.body.error == "token_revoked"
    }
}
