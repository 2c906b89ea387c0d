internal import NevodPluginKit
internal import NevodSupport

// Sends tokens that are bound to a key to resources (RFC 9449 §7, §9). An origin's state is its last nonce, a space and the hash of
// the token that was used with it.
extension OAuth2Auth {
    /// The needs for proofs and nonces. Header lines are needed to find the proof that a server refused.
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
    /// - Returns: whether the nonce is new.
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
    /// - Returns: nil if the response doesn't refuse a proof, or refuses it for its time, which the host corrects.
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
            throw .refused("the server accepts only tokens that are bound to a key (DPoP); set dpop=required, and log in again")
        }
        guard let refusal = ProofRefusal(challenges) else { return nil }
        switch refusal {
        case .nonce:
            guard let nonce = ProofNonce.of(response.headers(named: "DPoP-Nonce")) else {
                throw .refused("the server wants a nonce (use_dpop_nonce), but gave no valid DPoP-Nonce")
            }
            // If the server refuses a nonce right after giving it, don't spend a refresh token. If an earlier token got the nonce,
            // a renewal came between, and the nonce may just be old.
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
                "the server refused the proof of the token's key (invalid_dpop_proof); check that the request's address is "
                    + "the server's own name for itself")
        }
    }

    private func isNonce(_ nonce: String, of request: borrowing RequestView) -> Bool {
        ProofNonce.kept(by: request.state).elementsEqual(nonce.utf8)
    }

    /// The time of a request's proof, in seconds since 1970 UTC; nil if it has none.
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

/// A server's refusal of a proof, as distinct from a refusal of the grant or the token (RFC 9449 §12.2).
enum ProofRefusal {
    /// The proof has no nonce, or an old one.
    case nonce
    /// The proof is invalid.
    case proof

    /// The refusal of an authorization server, in its response's body (§5, §8).
    init?(_ response: FlowResponse) {
        guard response.status / 100 != 2, let error = response.errorCode else { return nil }
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

    /// Whether a proof may have been refused for its time: the host has corrected its clock by more than 5 s since the proof was
    /// made.
    ///
    /// - Parameters:
    ///   - issuedAt: the time of the proof, in seconds since 1970 UTC.
    ///   - now: the host's time after the response.
    static func clocksDiffer(_ issuedAt: Int64, _ now: Int64) -> Bool {
        let (difference, overflow) = now.subtractingReportingOverflow(issuedAt)
        return overflow || difference.magnitude > 5
    }
}

/// The value that a server wants in the next proof (RFC 9449 §8, §9).
enum ProofNonce {
    private static let sizeLimit = 1024

    /// The nonce of a response.
    ///
    /// - Parameter lines: the values of the response's lines `DPoP-Nonce`.
    /// - Returns: nil if there isn't exactly one, or if it is invalid or longer than 1 KiB.
    static func of(_ lines: [String]) -> String? {
        guard lines.count == 1, isValid(lines[0]) else { return nil }
        return lines[0]
    }

    /// The nonce in an origin's state; empty if there is none.
    static func kept(by state: Span<UInt8>) -> [UInt8] {
        state.withUnsafeBufferPointer { Array($0.prefix { $0 != UInt8(ascii: " ") }) }
    }

    /// Whether a text is a nonce (§8.1): visible ASCII without quotation marks and backslashes. It needs no escapes in JSON.
    static func isValid(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= sizeLimit
            && text.utf8.allSatisfy { $0.isVisible && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
