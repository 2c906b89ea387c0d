internal import NevodPluginKit
internal import NevodSupport

extension OAuth2Auth {
    /// The server's endpoints: those of settings, and for the others those of the issuer's metadata.
    func endpoints(_ flow: AuthFlow) async throws(SchemeError) -> Endpoints {
        guard let token = tokenURL?.text else { throw .unsupported("discovery") }
        return Endpoints(
            issuer: issuer?.text, authorization: authorizationURL?.text, token: token, device: deviceURL?.text,
            pushedRequests: pushedRequestURL?.text, revocation: revocationURL?.text)
    }
}
