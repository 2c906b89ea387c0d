internal import NevodPluginKit
internal import NevodSupport

// Proofs of the key that a flow's token is bound to (RFC 9449 §5, §10).
extension TokenEndpoint {
    /// The same endpoints, with proofs of a key if the setting `dpop` and the server's metadata ask for them.
    ///
    /// - Parameter old: the token that the flow renews. Its key is kept: the refresh token of a public client is bound to it (§5).
    func withProofs(renewing old: StoredToken? = nil) async throws(SchemeError) -> TokenEndpoint {
        var server = self
        server.proofs = try await makeProofs(renewing: old)
        return server
    }

    private func makeProofs(renewing old: StoredToken?) async throws(SchemeError) -> FlowProofs? {
        guard scheme.proofUse != .off else {
            if let old, old.isBound { throw OAuth2Auth.boundToken }
            return nil
        }
        if let old, let stored = old.proofKey {
            return FlowProofs(try ProofKey(stored: stored), nonce: old.serverNonce ?? "")
        }
        guard let algorithm = try scheme.proofUse.algorithm(scheme.proofAlgorithm, among: endpoints.proofAlgorithms) else {
            return nil
        }
        let key = try ProofKey(algorithm, from: flow.random)
        // After it, the flow has other random bytes. Its `state`, which is no secret, must not be made of those of the key.
        try await flow.wait(.zero)
        return FlowProofs(key, nonce: "")
    }

    /// Binds an authorization code to the key (§10), if there is one.
    ///
    /// - Parameter fields: those of the authorization request, pushed or not.
    func bindCode(_ fields: inout FormFields) throws(SchemeError) {
        if let proofs { fields.append("dpop_jkt", .text(try proofs.key.thumbprint)) }
    }

    /// Records the flow's key and nonce in a token that the server has issued.
    ///
    /// - Throws: ``SchemeError/unsupported(_:)`` if the token isn't of the type that was asked for. It clears no stored token,
    ///   since the server didn't refuse the grant.
    func bind(_ token: inout StoredToken) throws(SchemeError) {
        guard let proofs else {
            guard !token.isBound else {
                throw .unsupported(
                    "the server issued a token of the type DPoP without a proof of a key; set dpop=required to send one")
            }
            return
        }
        guard token.isBound || scheme.proofUse != .required else {
            throw .unsupported(
                "the server issued a bearer token and not one that is bound to the client's key; dpop=auto accepts bearer tokens")
        }
        token.proofKey = proofs.key.stored
        token.serverNonce = proofs.nonce
    }

    /// Whether a request to that address needs a proof: one for a token, or a pushed authorization request (§10.1).
    func wantsProof(_ url: String) -> Bool {
        if url.utf8.elementsEqual(endpoints.token.utf8) { return true }
        return endpoints.pushedRequests.map { url.utf8.elementsEqual($0.utf8) } ?? false
    }
}

extension OAuth2Auth {
    static var boundToken: SchemeError { .badToken("the stored token is bound to a key (DPoP), and dpop is off") }
}
