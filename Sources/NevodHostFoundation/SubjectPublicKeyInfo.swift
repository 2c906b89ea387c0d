/// Public keys in the form that pins are made of (RFC 5280 §4.1.2.7), from the form in which Apple's Security framework returns them.
enum SubjectPublicKeyInfo {
    /// - Parameter key: an RSAPublicKey (RFC 8017 §A.1.1).
    static func rsa(_ key: [UInt8]) -> [UInt8]? {
        // rsaEncryption, with NULL as its parameters (RFC 3279 §2.3.1).
        info([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00], key)
    }

    /// - Parameter point: an uncompressed point (X9.63).
    /// - Returns: nil for a curve other than P-256, P-384 and P-521 (RFC 5480 §2.1.1.1).
    static func elliptic(_ point: [UInt8]) -> [UInt8]? {
        let curve: [UInt8]
        switch point.count {
        case 65: curve = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case 97: curve = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
        case 133: curve = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
        default: return nil
        }
        return info([0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01] + curve, point)
    }

    private static func info(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
        // A bit string begins with the number of unused bits.
        element(0x30, element(0x30, algorithm) + element(0x03, [0] + key))
    }

    /// A value of DER with its length (X.690 §8.1.3).
    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 0x80 { return [tag, UInt8(truncatingIfNeeded: count)] + content }
        let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(truncatingIfNeeded: bytes.count)] + bytes + content
    }
}
