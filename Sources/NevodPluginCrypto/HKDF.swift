public import NevodPluginKit

/// Derives keys from a secret (RFC 5869).
public enum HKDF {
    /// Extracts a key from a secret and expands it.
    ///
    /// - Parameters:
    ///   - count: the number of bytes, at most 255 digests of the hash function.
    ///   - secret: the input keying material.
    ///   - salt: not secret; may be empty.
    ///   - info: the purpose of the key; different texts give independent keys.
    ///   - function: the hash function of the HMACs.
    /// - Throws: `SchemeError.internal` if libcrypto fails, or if the count is negative or too large.
    public static func derive(
        _ count: Int, from secret: Secret, salt: [UInt8] = [], info: [UInt8] = [], _ function: HashFunction = .sha256
    ) throws(SchemeError) -> Secret {
        try expand(extract(secret, salt: salt, function), count, info: info, function)
    }

    /// The first step: a key of the hash function's size.
    public static func extract(
        _ secret: Secret, salt: [UInt8] = [], _ function: HashFunction = .sha256
    ) throws(SchemeError) -> Secret {
        var digest = try secret.withUnsafeBytes { secret throws(SchemeError) in
            try function.hmac(key: salt.span, of: Span(_unsafeBytes: secret))
        }
        defer { digest.wipe() }
        return Secret(digest.bytes)
    }

    /// The second step: as many bytes as requested.
    ///
    /// - Parameters:
    ///   - key: uniformly random, such as the result of ``extract(_:salt:_:)``.
    ///   - count: the number of bytes, at most 255 digests of the hash function.
    ///   - info: the purpose of the key; different texts give independent keys.
    ///   - function: the hash function of the HMACs.
    public static func expand(
        _ key: Secret, _ count: Int, info: [UInt8] = [], _ function: HashFunction = .sha256
    ) throws(SchemeError) -> Secret {
        guard count >= 0, count <= 255 * function.size else {
            throw .internal("HKDF derives at most \(255 * function.size) bytes with \(function.rawValue)")
        }
        let hmac = try HMACKey(key, function)
        return try Secret(count: count) { output throws(SchemeError) in
            var (block, number, written) = (Digest(count: 0), UInt8(0), 0)
            defer { block.wipe() }
            while written < count {
                // At most 255 blocks, because of the check above.
                number += 1
                let previous = block
                block = try hmac.code { message in
                    message.append(previous.bytes)
                    message.append(info.span)
                    message.append(byte: number)
                }
                for index in 0..<min(block.count, count - written) { output[written + index] = block.bytes[index] }
                written += block.count
            }
        }
    }
}
