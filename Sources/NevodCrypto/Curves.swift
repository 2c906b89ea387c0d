internal import COpenSSL

/// The curves of ECDSA (RFC 7518 §3.4), by their names in a JWK (§6.2.1.1).
package enum EllipticCurve: String, CaseIterable, Sendable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"

    /// The size of a coordinate, in bytes.
    package var coordinateSize: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// libcrypto's name for the curve.
    var group: StaticString {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        }
    }

    package func isOf(_ key: OpaquePointer) -> Bool {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { name in
            var count = 0
            guard EVP_PKEY_get_group_name(key, name.baseAddress, name.count, &count) == 1, let start = name.baseAddress else {
                return false
            }
            let found = UnsafeRawBufferPointer(start: start, count: count)
            return found.elementsEqual(UnsafeRawBufferPointer(start: group.utf8Start, count: group.utf8CodeUnitCount))
        }
    }
}

/// The curves of EdDSA, by their names in a JWK (RFC 8037 §2).
package enum EdwardsCurve: String, CaseIterable, Sendable {
    case ed25519 = "Ed25519"
    case ed448 = "Ed448"

    var name: StaticString {
        switch self {
        case .ed25519: "ED25519"
        case .ed448: "ED448"
        }
    }

    /// The size of a public or a private key, in bytes.
    package var size: Int {
        switch self {
        case .ed25519: 32
        case .ed448: 57
        }
    }
}
