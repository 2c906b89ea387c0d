internal import NevodPluginKit
internal import NevodSupport

/// A token for the client itself (RFC 6749 §4.4).
struct ClientCredentials {
    let server: TokenEndpoint

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        var fields: FormFields = ["grant_type": "client_credentials"]
        server.target(&fields)
        var token = try await server.token(fields, as: "the client's credentials")
        // There should be none (§4.4.3), and with the credentials at hand none is needed: it could only be lost or stolen.
        token.refreshToken = nil
        return token
    }
}
