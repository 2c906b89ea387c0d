internal import NevodPluginKit
internal import NevodSupport

/// A login with a browser (RFC 6749 §4.1).
struct AuthorizationCode {
    let server: TokenEndpoint

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        throw .unsupported("the authorization code grant")
    }
}
