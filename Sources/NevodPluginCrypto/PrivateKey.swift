internal import NevodCrypto
public import NevodPluginKit

/// A private key, which makes signatures: of RSA (2048 to 16384 bits), of P-256, P-384 or P-521, or of Ed25519. Set up once and
/// used by many threads. libcrypto wipes it when the last reference is released.
///
/// A flow that needs a new key makes it from the host's random bytes: `PrivateKey(.ed25519, Secret(copying: flow.random))`.
public struct PrivateKey: Sendable {
    private let key: AsymmetricKey

    /// Reads a PEM: `PRIVATE KEY` (PKCS #8, RFC 5958), `RSA PRIVATE KEY` (PKCS #1, RFC 8017 §A.1.2) or `EC PRIVATE KEY` (SEC 1, RFC
    /// 5915). An encrypted key is refused with an error that shows the command to decrypt it.
    ///
    /// - Parameters:
    ///   - pem: at most 64 KiB. The first block counts.
    ///   - setting: the name of the setting that holds the text, for errors.
    /// - Throws: `SchemeError.badSetting`.
    public init(pem: Secret, setting: String) throws(SchemeError) {
        do throws(CryptoError) {
            key = try AsymmetricKey(pem.withUnsafeBytes { pem throws(CryptoError) in try KeyText.privateKey(pem: pem) })
        } catch {
            throw SchemeError(error, setting: setting)
        }
    }

    /// Takes the number of a key on a curve (`d` in a JWK; the seed of Ed25519, RFC 8032 §5.1.5), and computes its public part.
    ///
    /// - Parameters:
    ///   - curve: the curve of the key.
    ///   - secret: as many bytes as the curve's size (``KeyCurve/size``), with the most significant byte first.
    /// - Throws: `SchemeError.unsupported` for another length, or a number outside the curve's range.
    public init(_ curve: KeyCurve, _ secret: Secret) throws(SchemeError) {
        try self.init { () throws(CryptoError) in
            if let elliptic = curve.elliptic { return try KeyMaker.ellipticPrivate(elliptic, secret: secret) }
            return try KeyMaker.edwardsPrivate(.ed25519, secret: secret)
        }
    }

    private init(_ make: () throws(CryptoError) -> OpaquePointer) throws(SchemeError) {
        do throws(CryptoError) { key = try AsymmetricKey(make()) } catch { throw .unsupported(error.message) }
    }

    /// Takes a private key in JSON (RFC 7517 §4): `kty` RSA with all members of RFC 7518 §6.3.2 up to `qi`, EC or OKP (RFC 8037).
    ///
    /// - Throws: `SchemeError.unsupported` for anything else.
    public init(jwk: JSONValue) throws(SchemeError) {
        let members = JWKMembers(jwk)
        switch jwk["kty"]?.string {
        case "RSA":
            let parts = KeyMaker.RSAParts(
                modulus: try members.bytes("n"), exponent: try members.bytes("e"), secret: try members.secret("d"),
                p: try members.secret("p"), q: try members.secret("q"), dp: try members.secret("dp"),
                dq: try members.secret("dq"), qi: try members.secret("qi"))
            try self.init { () throws(CryptoError) in try KeyMaker.rsaPrivate(parts) }
        case "EC", "OKP": try self.init(members.curve(), members.secret("d"))
        default: throw .unsupported("the key's type (kty) is not RSA, EC or OKP")
        }
    }

    /// The signature of a message. ECDSA and RSA-PSS draw random numbers, so the same message gets a different signature each time.
    /// A scheme that uses them declares that it is nondeterministic.
    ///
    /// - Throws: `SchemeError.unsupported` for an algorithm that isn't the key's; `SchemeError.internal` if libcrypto fails.
    public func signature(of message: Span<UInt8>, _ algorithm: SignatureAlgorithm) throws(SchemeError) -> [UInt8] {
        guard let parts = algorithm.parts(for: key.kind) else {
            throw .unsupported("the key can't be used with this algorithm: it is \(key.kind.name)")
        }
        do throws(CryptoError) {
            let signature = try message.withUnsafeBytes { message throws(CryptoError) in
                try key.signature(of: message, parts.padding, parts.hash)
            }
            guard let size = parts.rawSize else { return signature }
            guard let raw = signature.withUnsafeBytes({ ECDSASignature.raw($0, coordinateSize: size) }) else {
                throw CryptoError("the signature is not a sequence of two numbers")
            }
            return raw
        } catch {
            throw SchemeError(error)
        }
    }

    /// The public part.
    public var publicKey: PublicKey { PublicKey(key) }
}

extension SchemeError {
    init(_ error: CryptoError) {
        self = .internal(error.message, detail: error.detail)
    }

    /// The error for a key that can't be used.
    init(_ error: CryptoError, setting: String) {
        self = .badSetting(setting, "is not a key that can be used: \(error.message)")
    }
}
