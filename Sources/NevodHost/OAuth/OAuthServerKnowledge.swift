internal import NevodSupport

/// The server's endpoints, and the pause that the server has asked for. All copies of a client share them.
final class OAuthServerKnowledge: Sendable {
    let pause = OAuthPause()
    private let known: Locked<OAuthServer?>
    private let reading = SingleFlight<Result<OAuthServer, OAuthError>>()
    private let read: @Sendable () async throws(OAuthError) -> OAuthServer

    init(_ server: OAuthServer) {
        known = Locked(server)
        read = { () throws(OAuthError) in server }
    }

    init(issuer: String, _ provider: NetworkProvider, _ timeout: Duration) {
        known = Locked(nil)
        read = { () async throws(OAuthError) in
            try await OAuthServer.discover(issuer: issuer, provider: provider, timeout: timeout)
        }
    }

    func server() async throws(OAuthError) -> OAuthServer {
        if let server = known.withLock(\.self) { return server }
        let result: Result<OAuthServer, OAuthError>
        do {
            result = try await reading.join(until: nil) { [self] in
                do throws(OAuthError) {
                    let server = try await read()
                    known.withLock { $0 = server }
                    return .success(server)
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            throw OAuthError(.cancelled, "reading the server's metadata was cancelled")
        }
        return try result.get()
    }
}
