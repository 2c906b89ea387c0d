internal import NevodCrypto
public import NevodPluginKit

/// A public key, which verifies signatures: of RSA (2048 to 16384 bits), of P-256, P-384 or P-521, or of Ed25519. Set up once and
/// used by many threads.
public struct PublicKey: Sendable {
    let key: AsymmetricKey

    /// Reads a PEM: `PUBLIC KEY` (SubjectPublicKeyInfo, RFC 7468 §13), or `CERTIFICATE`. Only a certificate's key is used; its
    /// names and dates are ignored.
    ///
    /// - Parameters:
    ///   - pem: at most 64 KiB. The first block counts.
    ///   - setting: the name of the setting that holds the text, for errors.
    /// - Throws: `SchemeError.badSetting`.
    public init(pem: String, setting: String) throws(SchemeError) {
        var pem = pem
        pem.makeContiguousUTF8()
        do throws(CryptoError) {
            key = try AsymmetricKey(
                pem.utf8Span.span.withUnsafeBytes { pem throws(CryptoError) in try KeyText.publicKey(pem: pem) })
        } catch {
            throw SchemeError(error, setting: setting)
        }
    }

    /// Takes the numbers of an RSA key (`n` and `e` in a JWK), with the most significant byte first.
    ///
    /// - Throws: `SchemeError.unsupported` for numbers that aren't an RSA key, or for a key that is too short.
    public init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(SchemeError) {
        try self.init { () throws(CryptoError) in try KeyMaker.rsa(modulus: modulus, exponent: exponent) }
    }

    /// Takes the point of a key on a curve (`x` and `y` in a JWK).
    ///
    /// - Parameters:
    ///   - curve: the curve of the key.
    ///   - x: as many bytes as the curve's size (``KeyCurve/size``).
    ///   - y: as many bytes as the curve's size; empty for Ed25519, which has no y.
    /// - Throws: `SchemeError.unsupported` for a point that is not on the curve.
    public init(_ curve: KeyCurve, x: [UInt8], y: [UInt8] = []) throws(SchemeError) {
        try self.init { () throws(CryptoError) in
            if let elliptic = curve.elliptic { return try KeyMaker.elliptic(elliptic, x: x, y: y) }
            guard y.isEmpty else { throw CryptoError("a key of Ed25519 has no second coordinate (y)") }
            return try KeyMaker.edwards(.ed25519, x: x)
        }
    }

    /// Takes a key in JSON (RFC 7517 §4): `kty` RSA, EC or OKP (RFC 8037). Private members, `alg`, `use` and `key_ops` are ignored.
    ///
    /// - Throws: `SchemeError.unsupported` for anything else.
    public init(jwk: JSONValue) throws(SchemeError) {
        let members = JWKMembers(jwk)
        switch jwk["kty"]?.string {
        case "RSA": try self.init(rsaModulus: members.bytes("n"), exponent: members.bytes("e"))
        case "EC", "OKP": try self.init(members.curve(), x: members.bytes("x"), y: members.optionalBytes("y"))
        default: throw .unsupported("the key's type (kty) is not RSA, EC or OKP")
        }
    }

    init(_ key: AsymmetricKey) {
        self.key = key
    }

    private init(_ make: () throws(CryptoError) -> OpaquePointer) throws(SchemeError) {
        do throws(CryptoError) { key = try AsymmetricKey(make()) } catch { throw .unsupported(error.message) }
    }

    /// Whether a signature is valid for a message.
    ///
    /// - Returns: false for every failure, even for an algorithm that isn't the key's.
    public func isSignature(_ signature: Span<UInt8>, of message: Span<UInt8>, _ algorithm: SignatureAlgorithm) -> Bool {
        guard let parts = algorithm.parts(for: key.kind) else { return false }
        return signature.withUnsafeBytes { signature in
            message.withUnsafeBytes { message in
                guard let size = parts.rawSize else { return key.isSignature(signature, of: message, parts.padding, parts.hash) }
                return ECDSASignature.withDER(signature, coordinateSize: size) {
                    key.isSignature($0, of: message, parts.padding, parts.hash)
                } ?? false
            }
        }
    }

    /// The key in JSON with only its required members, in the order of a thumbprint's input (RFC 7638 §3).
    public var jwk: JSONValue {
        func text(_ bytes: [UInt8]?) -> JSONValue { .string(Base64.encoded(bytes ?? [], .url, padded: false)) }
        switch key.kind {
        case .rsa: return ["e": text(key.number("e")), "kty": "RSA", "n": text(key.number("n"))]
        case .elliptic(let curve):
            let size = curve.coordinateSize
            return [
                "crv": .string(curve.rawValue), "kty": "EC", "x": text(key.number("qx", size: size)),
                "y": text(key.number("qy", size: size)),
            ]
        case .edwards(let curve): return ["crv": .string(curve.rawValue), "kty": "OKP", "x": text(key.edwardsPoint)]
        }
    }
}

/// The members of a JWK. The JSON that holds them may reveal private values.
struct JWKMembers {
    private let jwk: JSONValue

    init(_ jwk: JSONValue) {
        self.jwk = jwk
    }

    func bytes(_ name: String) throws(SchemeError) -> [UInt8] {
        guard let text = jwk[name]?.string, let bytes = Base64.decoded(text, .strictURL), !bytes.isEmpty else {
            throw .unsupported("the key's member \(name) is missing, or is not base64url without padding")
        }
        return bytes
    }

    func optionalBytes(_ name: String) throws(SchemeError) -> [UInt8] {
        jwk[name] == nil ? [] : try bytes(name)
    }

    func secret(_ name: String) throws(SchemeError) -> Secret {
        let text: Secret? =
            switch jwk[name] {
            case .string(let text): Secret(text)
            case .secret(let secret): secret
            default: nil
            }
        guard let secret = text.flatMap({ Base64.decoded($0, .strictURL) }), !secret.isEmpty else {
            throw .unsupported("the key's member \(name) is missing, or is not base64url without padding")
        }
        return secret
    }

    func curve() throws(SchemeError) -> KeyCurve {
        guard let name = jwk["crv"]?.string, let curve = KeyCurve(rawValue: name) else {
            throw .unsupported("the key's curve (crv) is missing, or is not P-256, P-384, P-521 or Ed25519")
        }
        let isElliptic = jwk["kty"]?.string == "EC"
        guard isElliptic == (curve.elliptic != nil) else {
            throw .unsupported("the key's curve (crv) doesn't match its type (kty)")
        }
        return curve
    }
}
