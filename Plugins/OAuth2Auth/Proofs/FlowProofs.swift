internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// One flow's proofs to the authorization server, with the key of the flow's token and the server's last nonce (RFC 9449 §5, §8).
final class FlowProofs: Sendable {
    let key: ProofKey
    private let state: Locked<State>

    private struct State {
        var nonce: [UInt8]
        /// The time of the last proof, in seconds since 1970 UTC.
        var issuedAt: Int64 = 0
    }

    /// - Parameter nonce: the server's nonce from an earlier flow; empty if there is none.
    init(_ key: ProofKey, nonce: String) {
        self.key = key
        state = Locked(State(nonce: Array(nonce.utf8)))
    }

    /// The server's last nonce; nil if it hasn't given one.
    var nonce: String? {
        let nonce = state.withLock { $0.nonce }
        return nonce.isEmpty ? nil : String(decoding: nonce, as: UTF8.self)
    }

    /// Signs a proof for a POST request to one of the server's endpoints.
    ///
    /// - Returns: the value of the header `DPoP`.
    func proof(for url: String, _ flow: AuthFlow) throws(SchemeError) -> String {
        let now = flow.unixSeconds
        let nonce = state.withLock { state in
            state.issuedAt = now
            return state.nonce
        }
        // Hashed, because the flow may derive secrets from the same random bytes, and a hash doesn't reveal them.
        let id = try HashFunction.sha256.digest(of: (Array("jti".utf8) + flow.random).span)
        let proof = try key.proof(
            ProofKey.Claims(
                method: Array("POST".utf8), url: Array(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }),
                issuedAt: now, id: id.bytes.extracting(first: 16).withUnsafeBufferPointer { Array($0) }, nonce: nonce))
        return String(decoding: proof, as: UTF8.self)
    }

    /// Keeps the nonce from a response of the server.
    func keepNonce(of response: FlowResponse) {
        guard let nonce = ProofNonce.of(response.headers(named: "DPoP-Nonce")) else { return }
        state.withLock { $0.nonce = Array(nonce.utf8) }
    }

    /// Whether a refused request may succeed with a new proof: the server wants another nonce, or its response corrected the
    /// clock.
    ///
    /// - Parameter now: the time after the response, in seconds since 1970 UTC.
    func shouldProveAgain(after response: FlowResponse, at now: Int64) -> Bool {
        switch ProofRefusal(response) {
        case .nonce: ProofNonce.of(response.headers(named: "DPoP-Nonce")) != nil
        case .proof: ProofRefusal.clocksDiffer(state.withLock { $0.issuedAt }, now)
        case nil: false
        }
    }

    /// Throws if a response refuses a proof. The error isn't a denial, because the grant isn't at fault and no token must be
    /// cleared.
    static func check(_ response: FlowResponse) throws(SchemeError) {
        switch ProofRefusal(response) {
        case .nonce:
            guard ProofNonce.of(response.headers(named: "DPoP-Nonce")) != nil else {
                throw .unavailable("the authorization server wants a nonce (use_dpop_nonce), but gave no valid DPoP-Nonce")
            }
            throw .unavailable(
                "the authorization server refused the DPoP nonce that it had given (use_dpop_nonce); try again later")
        case .proof:
            throw .unavailable(
                "the authorization server refused the proof of the token's key (invalid_dpop_proof); check that its endpoint's "
                    + "address is the one that it publishes, or set dpop-alg to an algorithm that it accepts")
        case nil: return
        }
    }
}

/// Whether tokens are bound to a key of this client (RFC 9449).
enum ProofUse: String, CaseIterable, SettingValue {
    /// Bearer tokens.
    case off
    /// Bound to a key if the server's metadata names an algorithm of this client (`dpop_signing_alg_values_supported`, §5.1).
    case auto
    /// Bound to a key, or refused.
    case required

    /// The algorithm of a new key.
    ///
    /// - Parameters:
    ///   - wanted: the setting's algorithm; nil for any.
    ///   - supported: the algorithms in the server's metadata; empty if unknown.
    /// - Returns: nil for bearer tokens.
    /// - Throws: ``SchemeError/unsupported(_:)`` if a key is required, but the server accepts no key of that algorithm.
    func algorithm(_ wanted: ProofAlgorithm?, among supported: [String]) throws(SchemeError) -> ProofAlgorithm? {
        let own = wanted.map { [$0] } ?? ProofAlgorithm.allCases
        let common = own.first { algorithm in supported.contains { $0.utf8.elementsEqual(algorithm.rawValue.utf8) } }
        switch self {
        case .off: return nil
        case .auto: return common
        case .required:
            guard let algorithm = supported.isEmpty ? own.first : common else {
                let names = own.map { $0.rawValue }.joined(separator: ", ")
                throw .unsupported(
                    "by its metadata, the server accepts no proofs of a key (DPoP) of \(names); set dpop-alg to an algorithm that it "
                        + "accepts, or dpop=auto for bearer tokens")
            }
            return algorithm
        }
    }
}

// Proofs of the key that a flow's token is bound to (RFC 9449 §5, §10).
extension TokenEndpoint {
    /// The same endpoints, with proofs of a key if the setting `dpop` and the server's metadata ask for them.
    ///
    /// - Parameter old: the token that the flow renews. Its key is kept, because the refresh token of a public client is bound to
    ///   it (§5).
    func withProofs(renewing old: StoredToken? = nil) async throws(SchemeError) -> TokenEndpoint {
        TokenEndpoint(of: scheme, flow, endpoints, try await makeProofs(renewing: old))
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
        // Gets new random bytes. The login's `state` isn't secret, so it must not be made from the key's random bytes.
        try await flow.wait(.zero)
        return FlowProofs(key, nonce: "")
    }

    /// Binds an authorization code to the key (§10), if there is one.
    ///
    /// - Parameter fields: the fields of the authorization request, pushed or not.
    func bindCode(_ fields: inout FormFields) throws(SchemeError) {
        if let proofs { fields.append("dpop_jkt", .text(try proofs.key.thumbprint)) }
    }

    /// Records the flow's key and nonce in a token that the server has issued.
    ///
    /// - Throws: ``SchemeError/unsupported(_:)`` if the token isn't of the requested type. The error clears no stored token,
    ///   because the server didn't refuse the grant.
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
                "the server issued a bearer token instead of one that is bound to the client's key; dpop=auto accepts bearer tokens"
            )
        }
        token.proofKey = proofs.key.stored
        token.serverNonce = proofs.nonce
    }

    /// Whether a request to that address needs a proof: a token request, or a pushed authorization request (§10.1).
    func wantsProof(_ url: String) -> Bool {
        if url.utf8.elementsEqual(endpoints.token.utf8) { return true }
        return endpoints.pushedRequests.map { url.utf8.elementsEqual($0.utf8) } ?? false
    }
}

extension OAuth2Auth {
    static var boundToken: SchemeError { .badToken("the stored token is bound to a key (DPoP), but dpop is off") }
}
