internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// The proofs of one flow to the authorization server: with the key that the flow's token is bound to, and the server's last nonce
/// (RFC 9449 §5, §8).
final class FlowProofs: Sendable {
    let key: ProofKey
    private let state: Locked<State>

    private struct State {
        var nonce: [UInt8]
        /// The time of the last proof, in seconds since 1970 UTC.
        var issuedAt: Int64 = 0
    }

    /// - Parameter nonce: the server's, from an earlier flow; empty if there is none.
    init(_ key: ProofKey, nonce: String) {
        self.key = key
        state = Locked(State(nonce: Array(nonce.utf8)))
    }

    /// The server's last nonce; nil if it gave none.
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
        // The flow may make secret values of the same random bytes. A hash reveals nothing of them.
        let id = try HashFunction.sha256.digest(of: (Array("jti".utf8) + flow.random).span)
        let proof = try key.proof(
            ProofKey.Claims(
                method: Array("POST".utf8), url: Array(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }),
                issuedAt: now, id: id.bytes.extracting(first: 16).withUnsafeBufferPointer { Array($0) }, nonce: nonce))
        return String(decoding: proof, as: UTF8.self)
    }

    /// Keeps the nonce that a response of the server brings.
    func keepNonce(of response: FlowResponse) {
        guard let nonce = ProofNonce.of(response.headers(named: "DPoP-Nonce")) else { return }
        state.withLock { $0.nonce = Array(nonce.utf8) }
    }

    /// Whether a refused request may succeed with another proof: one with the nonce that the server wants, or with the time of the
    /// server's clock, which the response told.
    ///
    /// - Parameter now: the time after the response, in seconds since 1970 UTC.
    func shouldProveAgain(after response: FlowResponse, at now: Int64) -> Bool {
        switch ProofRefusal(response) {
        case .nonce: ProofNonce.of(response.headers(named: "DPoP-Nonce")) != nil
        case .proof: ProofRefusal.clocksDiffer(state.withLock { $0.issuedAt }, now)
        case nil: false
        }
    }

    /// Throws if a response refuses a proof, which is no fault of the grant: no token must be cleared for it.
    static func check(_ response: FlowResponse) throws(SchemeError) {
        switch ProofRefusal(response) {
        case .nonce:
            guard ProofNonce.of(response.headers(named: "DPoP-Nonce")) != nil else {
                throw .unavailable("the authorization server wants a nonce (use_dpop_nonce), and gave no valid DPoP-Nonce")
            }
            throw .unavailable(
                "the authorization server refused the DPoP nonce that it had given (use_dpop_nonce); try again later")
        case .proof:
            throw .unavailable(
                "the authorization server refused the proof of the token's key (invalid_dpop_proof); check that its endpoint's "
                    + "address is the one that it publishes, or set dpop-alg to an algorithm that it takes")
        case nil: return
        }
    }
}
