internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// The proof that a code is redeemed by the client that asked for it (RFC 7636), by the method S256. There is no `plain`: it would show
/// the proof to whoever sees the request.
struct PKCE: Sendable {
    /// Known to this login alone until it redeems its code (§4.1).
    let verifier: Secret
    /// The verifier's SHA-256 in base64url (§4.2).
    let challenge: String

    init(verifier: Secret) throws(SchemeError) {
        self.verifier = verifier
        challenge = try verifier.withUnsafeBytes { bytes throws(SchemeError) -> String in
            let digest = try HashFunction.sha256.digest(of: Span(_unsafeBytes: bytes))
            return Base64URL.encoded(digest.bytes)
        }
    }
}

extension AuthFlow {
    /// 43 characters with 256 bits from ``random``. Values for different purposes reveal nothing of each other, though the random bytes
    /// are the same until the next `await`: the state of a login is in its address, and its verifier must not follow from it.
    func unguessable(_ purpose: String) throws(SchemeError) -> Secret {
        let random = random
        var digest = try HashFunction.sha256.hmac(key: random.span, of: purpose)
        defer { digest.wipe() }
        return Secret(count: Base64.digitCount(digest.count)) { memory in
            guard let start = memory.bindMemory(to: UInt8.self).baseAddress else { return }
            Base64.encode(digest.bytes, .url, to: start)
        }
    }
}
