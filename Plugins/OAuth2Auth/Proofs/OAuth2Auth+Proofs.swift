internal import NevodPluginKit
internal import NevodSupport

// Tokens that are bound to a key, at resources (RFC 9449 §7, §9). The state of an origin is its last nonce, a space and the hash of
// the token that it was given to.
extension OAuth2Auth {
    /// The needs of proofs and nonces. The request's header lines have the proof that a server refused.
    var proofNeeds: Needs { proofUse == .off ? [] : [.random, .state, .otherResponses, .headers] }

    /// Puts a token that is bound to a key, and a proof of the key, on a request.
    func authorize(
        _ request: borrowing RequestView, _ token: AccessToken, boundBy binding: KeyBinding, _ edits: Edits
    ) throws(SchemeError) {
        guard proofUse != .off else { throw Self.boundToken }
        let proof = try binding.proof(for: request)
        edits.setHeader("Authorization", token.credential)
        edits.setHeader("DPoP", proof.span)
    }

    /// Keeps the nonce of a response for later requests to its origin.
    ///
    /// - Returns: whether it is another one.
    func keepNonce(
        of response: borrowing ResponseView, _ request: borrowing RequestView, _ token: AccessToken?, _ edits: ResponseEdits
    ) -> Bool {
        guard proofUse != .off, !response.isFromProxy, let nonce = ProofNonce.of(response.headers(named: "DPoP-Nonce")),
            !isNonce(nonce, of: request)
        else { return false }
        edits.setState(Array(nonce.utf8) + [UInt8(ascii: " ")] + (token?.binding?.tokenHash ?? []))
        return true
    }

    /// Decides about a response that refuses a proof.
    ///
    /// - Returns: nil if the response refuses no proof, or the time of the proof, which the host corrects.
    /// - Throws: ``SchemeError/refused(_:subject:detail:)`` if another proof, or another token, wouldn't be accepted either.
    func proofVerdict(
        on response: borrowing ResponseView, _ request: borrowing RequestView, _ token: AccessToken?
    ) throws(SchemeError) -> Verdict? {
        guard response.status == 401, !response.isFromProxy, let token else { return nil }
        let challenges = Challenge.parse(response.headers(named: "WWW-Authenticate"))
        guard let binding = token.binding else {
            guard proofUse == .off, challenges.contains(where: { $0.isOf("DPoP") }),
                !challenges.contains(where: { $0.isOf("Bearer") })
            else { return nil }
            // Another bearer token would be refused as well.
            throw .refused("the server takes only tokens that are bound to a key (DPoP); set dpop=required, and log in again")
        }
        guard let refusal = ProofRefusal(challenges) else { return nil }
        switch refusal {
        case .nonce:
            guard let nonce = ProofNonce.of(response.headers(named: "DPoP-Nonce")) else {
                throw .refused("the server wants a nonce (use_dpop_nonce), and gave no valid DPoP-Nonce")
            }
            // A nonce that is refused right after it was given is no reason to spend a refresh token. One that an earlier token got
            // is older: a renewal came between.
            let isRepeated =
                request.attempt > 1
                && request.state.withUnsafeBufferPointer {
                    $0.drop { $0 != UInt8(ascii: " ") }.dropFirst().elementsEqual(binding.tokenHash)
                }
            guard !isRepeated, !isNonce(nonce, of: request) else {
                throw .refused("the server refused the DPoP nonce that it had given (use_dpop_nonce); try again later")
            }
            return .retryOnce
        case .proof:
            if let issuedAt = proofTime(of: request), ProofRefusal.clocksDiffer(issuedAt, request.unixSeconds) { return nil }
            throw .refused(
                "the server refused the proof of the token's key (invalid_dpop_proof); check that the address of the request is "
                    + "the one that the server knows itself by")
        }
    }

    private func isNonce(_ nonce: String, of request: borrowing RequestView) -> Bool {
        ProofNonce.kept(by: request.state).elementsEqual(nonce.utf8)
    }

    /// The time of the proof that a request carried, in seconds since 1970 UTC; nil if it carried none.
    private func proofTime(of request: borrowing RequestView) -> Int64? {
        var proof: [UInt8] = []
        request.forEachHeader { name, value in
            if name.withUnsafeBufferPointer({ $0.elementsEqual("DPoP".utf8) }) {
                proof = value.withUnsafeBufferPointer { Array($0) }
            }
        }
        let parts = proof.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let json = Base64.decoded(Array(parts[1]), .strictURL) else { return nil }
        return (try? JSONValue(parsing: json.span))?["iat"]?.integer
    }
}
