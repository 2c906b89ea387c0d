internal import NevodPluginKit
internal import NevodSupport

/// A session that begins with a refresh token which something else has obtained: a login elsewhere, or a console of the server's.
struct GivenRefreshToken {
    let server: TokenEndpoint

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        let given =
            if let setting = server.scheme.refreshToken { setting } else {
                try await server.flow.ask(.secret("refresh-token", "Refresh token"))
            }
        // Stored as a line: a line break in it would begin another member.
        guard StoredToken.isRefreshToken(String(revealing: given)) else {
            throw .badSetting(
                "refresh-token", "is no refresh token: it has a line break or another control character, or is too long")
        }
        var fields: FormFields = ["grant_type": "refresh_token", "refresh_token": .secret(given)]
        server.target(&fields)
        var token = try await server.token(fields, as: "the given refresh token")
        // A server that doesn't rotate it leaves it out (RFC 6749 §6).
        token.refreshToken = token.refreshToken ?? given
        return token
    }
}
