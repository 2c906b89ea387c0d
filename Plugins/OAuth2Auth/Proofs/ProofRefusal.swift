internal import NevodPluginKit

/// A server's refusal of a proof, as distinct from one of the grant or the token (RFC 9449 §12.2).
enum ProofRefusal {
    /// The proof has no nonce, or an old one.
    case nonce
    /// The proof is invalid.
    case proof

    /// The refusal of an authorization server, in its response's body (§5, §8).
    init?(_ response: FlowResponse) {
        guard response.status / 100 != 2, let error = ServerAnswer(response).error else { return nil }
        self.init(code: error)
    }

    /// The refusal of a resource, in its challenges (§7.1, §9).
    init?(_ challenges: [Challenge]) {
        for challenge in challenges where challenge.isOf("DPoP") {
            if let error = challenge["error"], let refusal = ProofRefusal(code: error) {
                self = refusal
                return
            }
        }
        return nil
    }

    private init?(code: String) {
        if code.utf8.elementsEqual("use_dpop_nonce".utf8) {
            self = .nonce
        } else if code.utf8.elementsEqual("invalid_dpop_proof".utf8) {
            self = .proof
        } else {
            return nil
        }
    }

    /// Whether a proof was perhaps refused for its time, which the host has corrected since: by more than 5 s.
    ///
    /// - Parameters:
    ///   - issuedAt: the time of the proof, in seconds since 1970 UTC.
    ///   - now: the time of the host after the response.
    static func clocksDiffer(_ issuedAt: Int64, _ now: Int64) -> Bool {
        let (difference, overflow) = now.subtractingReportingOverflow(issuedAt)
        return overflow || difference.magnitude > 5
    }
}
