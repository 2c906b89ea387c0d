internal import COpenSSL
package import NevodSupport

/// A key that seals values with AES-256-GCM (NIST SP 800-38D). Each value gets a random 96-bit nonce, so one key can seal about
/// four billion (2³²) values.
///
/// A sealed value is `1 | nonce (12) | ciphertext | tag (16)`; the first byte is the version of this format.
package struct SealingKey: Sendable {
    package static let size = 32
    /// The most values that one key may seal: AES-GCM with random nonces is safe for 2³² values (NIST SP 800-38D §8.3).
    static let mostSealings: UInt64 = 1 << 32
    /// The number of bytes that sealing adds.
    package static let overhead = 1 + nonceSize + tagSize
    static let nonceSize = 12
    static let tagSize = 16
    private static let form: UInt8 = 1

    package let bytes: Secret

    /// - Parameter bytes: ``size`` random bytes.
    package init(_ bytes: Secret) {
        precondition(bytes.count == Self.size, "a sealing key has \(Self.size) bytes")
        self.bytes = bytes
    }

    /// A new random key.
    package static func random() -> SealingKey {
        SealingKey(
            Secret(count: size) { memory in
                let isRandom = RAND_priv_bytes(memory.bindMemory(to: UInt8.self).baseAddress, Int32(size)) == 1
                precondition(isRandom, "OpenSSL has no random numbers")
            })
    }

    /// - Parameter place: What the value belongs to (the additional authenticated data; see ``SealedPlace``). The value opens for
    ///   no other place.
    package func seal(_ value: Secret, for place: [UInt8]) -> [UInt8] {
        seal(value, for: place, nonce: Self.newNonce())
    }

    /// Seals bytes that aren't kept as a secret.
    func seal(_ bytes: [UInt8], for place: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { seal($0, for: place, nonce: Self.newNonce()) }
    }

    private static func newNonce() -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: nonceSize)
        let isRandom = RAND_bytes(&nonce, Int32(nonce.count)) == 1
        precondition(isRandom, "OpenSSL has no random numbers")
        return nonce
    }

    /// For published test vectors: a nonce must never be used twice.
    func seal(_ value: Secret, for place: [UInt8], nonce: [UInt8]) -> [UInt8] {
        value.withUnsafeBytes { seal($0, for: place, nonce: nonce) }
    }

    private func seal(_ value: UnsafeRawBufferPointer, for place: [UInt8], nonce: [UInt8]) -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: value.count + Self.overhead)
        sealed[0] = Self.form
        sealed.replaceSubrange(1..<1 + nonce.count, with: nonce)
        let isSealed = sealed.withUnsafeMutableBytes { sealed in
            let output = UnsafeMutableRawBufferPointer(rebasing: sealed[(1 + Self.nonceSize)...])
            return GCMCipher(bytes, nonce, sealing: true)?.run(value, place, output, tag: output.count - Self.tagSize) ?? false
        }
        precondition(isSealed, "OpenSSL has no AES-256-GCM")
        return sealed
    }

    /// - Returns: nil if the value was sealed under another key or for another place, or was changed.
    package func open(_ sealed: [UInt8], for place: [UInt8]) -> Secret? {
        guard let count = Self.openedCount(sealed) else { return nil }
        var isOpen = false
        let value = Secret(count: count) { isOpen = open(sealed, for: place, into: $0) }
        return isOpen ? value : nil
    }

    /// Opens bytes that needn't be kept as a secret.
    func openBytes(_ sealed: [UInt8], for place: [UInt8]) -> [UInt8]? {
        guard let count = Self.openedCount(sealed) else { return nil }
        // The cipher needs an address even if there are no bytes.
        var value = [UInt8](repeating: 0, count: max(1, count))
        guard value.withUnsafeMutableBytes({ open(sealed, for: place, into: $0) }) else { return nil }
        value.removeLast(value.count - count)
        return value
    }

    private static func openedCount(_ sealed: [UInt8]) -> Int? {
        sealed.count >= overhead && sealed[0] == form ? sealed.count - overhead : nil
    }

    /// - Parameter value: has room for the sealed value without its overhead.
    private func open(_ sealed: [UInt8], for place: [UInt8], into value: UnsafeMutableRawBufferPointer) -> Bool {
        let nonce = Array(sealed[1..<1 + Self.nonceSize])
        return sealed.withUnsafeBytes { sealed in
            let input = UnsafeRawBufferPointer(rebasing: sealed[(1 + Self.nonceSize)...])
            let tag = input.count - Self.tagSize
            return GCMCipher(bytes, nonce, sealing: false)?.run(input, place, value, tag: tag) ?? false
        }
    }

    /// Derives a key for another purpose by HMAC-SHA256 (RFC 2104). This key can't be recovered from it.
    ///
    /// - Parameter purpose: the same purpose always gives the same key.
    func derived(for purpose: [UInt8]) -> SealingKey {
        var isDone = false
        let key = Secret(count: Self.size) { key in
            var count = 0
            isDone = bytes.withUnsafeBytes { secret in
                EVP_Q_mac(
                    nil, "HMAC", nil, "SHA256", nil, secret.baseAddress, secret.count, purpose, purpose.count,
                    key.bindMemory(to: UInt8.self).baseAddress, key.count, &count) != nil
            }
            isDone = isDone && count == Self.size
        }
        precondition(isDone, "OpenSSL has no HMAC")
        return SealingKey(key)
    }
}

/// One operation of the cipher.
private struct GCMCipher: ~Copyable {
    private let context: OpaquePointer
    private let isSealing: Bool

    init?(_ key: Secret, _ nonce: [UInt8], sealing: Bool) {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        let isReady = key.withUnsafeBytes { key in
            EVP_CipherInit_ex2(
                context, EVP_aes_256_gcm(), key.bindMemory(to: UInt8.self).baseAddress, nonce, sealing ? 1 : 0, nil)
        }
        guard isReady == 1 else {
            EVP_CIPHER_CTX_free(context)
            return nil
        }
        self.context = context
        isSealing = sealing
    }

    deinit {
        // Also wipes the key schedule.
        EVP_CIPHER_CTX_free(context)
    }

    /// - Parameter tag: The offset of the tag after the ciphertext: in the input when opening, in the output when sealing.
    func run(
        _ input: UnsafeRawBufferPointer, _ place: [UInt8], _ output: UnsafeMutableRawBufferPointer, tag: Int
    ) -> Bool {
        let input = input.bindMemory(to: UInt8.self)
        let output = output.bindMemory(to: UInt8.self)
        var (count, last): (Int32, Int32) = (0, 0)
        guard let start = output.baseAddress, EVP_CipherUpdate(context, nil, &count, place, Int32(place.count)) == 1 else {
            return false
        }
        if !isSealing {
            var expected = Array(input[tag..<tag + SealingKey.tagSize])
            guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(SealingKey.tagSize), &expected) == 1 else {
                return false
            }
        }
        let length = isSealing ? input.count : tag
        count = 0
        if length > 0, EVP_CipherUpdate(context, start, &count, input.baseAddress, Int32(length)) != 1 { return false }
        guard EVP_CipherFinal_ex(context, start + Int(count), &last) == 1 else { return false }
        guard isSealing else { return true }
        return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(SealingKey.tagSize), start + tag) == 1
    }
}
