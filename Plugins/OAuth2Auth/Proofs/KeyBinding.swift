internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// A token's key, with the token's hash that each proof for a resource has (RFC 9449 §4.2, `ath`).
struct KeyBinding: Sendable {
    let key: ProofKey
    let tokenHash: [UInt8]

    /// - Throws: ``SchemeError/badToken(_:)`` if the key is missing or damaged.
    init(_ token: StoredToken) throws(SchemeError) {
        guard let stored = token.proofKey else { throw .badToken("the stored token is bound to a key (DPoP) that is missing") }
        try self.init(ProofKey(stored: stored), token.accessToken)
    }

    init(_ key: ProofKey, _ accessToken: Secret) throws(SchemeError) {
        let digest = try accessToken.withUnsafeBytes { token throws(SchemeError) in
            try HashFunction.sha256.digest(of: Span(_unsafeBytes: token))
        }
        var tokenHash: [UInt8] = []
        tokenHash.append(base64URL: digest.bytes)
        self.key = key
        self.tokenHash = tokenHash
    }

    /// Signs a proof for a request to a resource (§7), with the nonce in the state.
    func proof(for request: borrowing RequestView) throws(SchemeError) -> [UInt8] {
        // 128 bits; a proof needs 96 (§4.2).
        guard request.random.count >= 16 else { throw .internal("the host gave no random bytes for a proof (DPoP)") }
        var url: [UInt8] = []
        url.append(request.scheme)
        url.append(ascii: "://")
        url.append(request.authority)
        url.append(request.path)
        return try key.proof(
            ProofKey.Claims(
                method: bytes(request.method), url: url, issuedAt: request.unixSeconds,
                id: bytes(request.random.extracting(first: 16)), nonce: ProofNonce.kept(by: request.state), tokenHash: tokenHash))
    }

    private func bytes(_ span: Span<UInt8>) -> [UInt8] {
        span.withUnsafeBufferPointer { Array($0) }
    }
}
