internal import NevodCrypto
public import NevodSupport

/// A key that verifies signatures (RFC 7517), set up once for any number of verifications on any number of threads.
///
/// Private members of a key are ignored and not kept. A shared secret is kept by libcrypto alone, which wipes it.
public struct JSONWebKey: Sendable {
    /// `kid`: which of an issuer's keys it is.
    public let keyID: String?
    /// The algorithms that the key verifies: those of its kind and size, and of these only the one that its owner names (`alg`).
    public var algorithms: [JWTAlgorithm] { key.algorithms }

    let key: SignatureKey

    init(_ key: SignatureKey, keyID: String?) {
        self.key = key
        self.keyID = keyID
    }

    /// Takes a shared secret, for HMAC.
    ///
    /// - Parameters:
    ///   - secret: at least as long as the hash of the algorithm (RFC 7518 §3.2). A public key in PEM or DER is refused, since everyone
    ///     could sign with it.
    ///   - algorithm: the only one to be used; by default each for which the secret is long enough.
    ///   - keyID: `kid`.
    /// - Throws: ``JWTError/Code-swift.enum/key``.
    public init(secret: Secret, algorithm: JWTAlgorithm? = nil, keyID: String? = nil) throws(JWTError) {
        guard !KeyText.isPublicKey(secret) else {
            throw JWTError(.key, "the shared secret is a public key, which is no secret; give it as a PEM")
        }
        self.init(.shared(try SharedKey(secret, allowed: algorithm.map { [$0] } ?? JWTAlgorithm.allCases)), keyID: keyID)
    }

    /// Reads a public key in PEM: `PUBLIC KEY` (SubjectPublicKeyInfo, RFC 7468 §13), or `CERTIFICATE` (§5), of which only the key is
    /// used, and neither the names nor the dates.
    ///
    /// - Parameters:
    ///   - pem: at most 64 KiB. The first block counts.
    ///   - algorithm: the only one to be used; by default each that fits the key.
    ///   - keyID: `kid`.
    /// - Throws: ``JWTError/Code-swift.enum/key``.
    public init(pem: String, algorithm: JWTAlgorithm? = nil, keyID: String? = nil) throws(JWTError) {
        let key: OpaquePointer
        var pem = pem
        pem.makeContiguousUTF8()
        do throws(CryptoError) {
            key = try pem.utf8Span.span.withUnsafeBytes { pem throws(CryptoError) in try KeyText.publicKey(pem: pem) }
        } catch {
            throw JWTError(error)
        }
        self.init(.asymmetric(try PublicKey(key, allowed: algorithm.map { [$0] } ?? JWTAlgorithm.allCases)), keyID: keyID)
    }

    /// Reads a key in JSON (RFC 7517 §4): `kty` RSA, EC, OKP (RFC 8037) or oct. `alg`, `use` and `key_ops` are obeyed.
    ///
    /// - Parameter json: UTF-8, at most 64 KiB.
    /// - Throws: ``JWTError/Code-swift.enum/key``.
    public init(json: [UInt8]) throws(JWTError) {
        try self.init(json: json.span)
    }
}

extension JSONWebKey: CustomStringConvertible {
    /// The algorithms.
    public var description: String { "JSONWebKey(\(JWTAlgorithm.list(algorithms)))" }
}

#if !hasFeature(Embedded)
    extension JSONWebKey: CustomReflectable {
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
