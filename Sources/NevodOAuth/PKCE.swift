internal import COpenSSL
package import NevodSupport

/// Proves that the client that redeems a code is the one that requested it (RFC 7636), by the method S256. The method `plain` isn't
/// supported, because it would show the proof to anybody who sees the request.
package struct PKCE: Sendable {
    /// Known only to this login until it redeems its code (§4.1).
    package let verifier: Secret
    /// The verifier's SHA-256 in base64url (§4.2). It isn't secret.
    package let challenge: String

    /// Returns nil if libcrypto has no SHA-256.
    package init?(verifier: Secret) {
        var digest = [UInt8](repeating: 0, count: 32)
        let isDone = verifier.withUnsafeBytes { bytes in
            EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, EVP_sha256(), nil) == 1
        }
        guard isDone else { return nil }
        self.verifier = verifier
        challenge = Base64.encoded(digest, .url, padded: false)
    }

    /// Whether a text can be a verifier (§4.1): 43 to 128 letters, digits and `-._~`.
    package static func isVerifier(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isUnreserved }
    }
}
