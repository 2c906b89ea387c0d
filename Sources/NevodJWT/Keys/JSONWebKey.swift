internal import NevodCrypto
public import NevodSupport

/// A key that verifies signatures (RFC 7517), set up once for any number of verifications on any number of threads.
///
/// Private members of a key are ignored and not kept. A shared secret is kept by libcrypto alone, which wipes it.
public struct JSONWebKey: Sendable {
    /// `kid`: identifies the key among its issuer's keys.
    public let keyID: String?
    /// The algorithms that the key can verify, given its kind and size; only one if its owner names it (`alg`).
    public var algorithms: [JWTAlgorithm] { key.algorithms }

    let key: SignatureKey

    init(_ key: SignatureKey, keyID: String?) {
        self.key = key
        self.keyID = keyID
    }

    /// Takes a shared secret, for HMAC.
    ///
    /// - Parameters:
    ///   - secret: at least as many bytes as the algorithm's hash (RFC 7518 §3.2). A public key in PEM or DER is refused, because
    ///     anyone could sign with it.
    ///   - algorithm: the only algorithm to use; by default every algorithm for which the secret is long enough.
    ///   - keyID: `kid`.
    /// - Throws: ``JWTError/Code-swift.enum/key``.
    public init(secret: Secret, algorithm: JWTAlgorithm? = nil, keyID: String? = nil) throws(JWTError) {
        guard !KeyText.isPublicKey(secret) else {
            throw JWTError(.key, "the shared secret is a public key, which isn't secret; give it as a PEM")
        }
        self.init(.shared(try SharedKey(secret, allowed: algorithm.map { [$0] } ?? JWTAlgorithm.allCases)), keyID: keyID)
    }

    /// Reads a public key in PEM: `PUBLIC KEY` (SubjectPublicKeyInfo, RFC 7468 §13) or `CERTIFICATE` (§5). Only a certificate's
    /// key is used, not its names or dates.
    ///
    /// - Parameters:
    ///   - pem: at most 64 KiB. Only the first block is read.
    ///   - algorithm: the only algorithm to use; by default every algorithm that fits the key.
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

extension JSONWebKey {
    init(json: Span<UInt8>) throws(JWTError) {
        guard json.count <= CompactJWS.sizeLimit else {
            throw JWTError(.key, "the key has more than \(CompactJWS.sizeLimit) bytes")
        }
        let reader: KeyReader
        do { reader = try KeyReader(json) } catch { throw JWTError(.key, "the key is not a JSON object: \(error)") }
        if let use = try reader.string("use"), use != "sig" {
            throw JWTError(.key, "the key is not for signatures (use)")
        }
        if let operations = try reader.operations(), !operations.contains("verify") {
            throw JWTError(.key, "the key is not for verifying (key_ops)")
        }
        var allowed = JWTAlgorithm.allCases
        if let name = try reader.string("alg") {
            guard let algorithm = JWTAlgorithm(rawValue: name) else {
                throw JWTError(.key, "the key is for an unknown algorithm (alg)")
            }
            allowed = [algorithm]
        }
        let keyID = try reader.string("kid")
        switch try reader.string("kty") {
        case "oct":
            let secret = try reader.secret("k")
            guard !KeyText.isPublicKey(secret) else {
                throw JWTError(.key, "the shared secret is a public key, which isn't secret")
            }
            self.init(.shared(try SharedKey(secret, allowed: allowed)), keyID: keyID)
        case "RSA":
            let (n, e) = (try reader.bytes("n"), try reader.bytes("e"))
            let key = { () throws(CryptoError) in try KeyMaker.rsa(modulus: n, exponent: e) }
            self.init(.asymmetric(try Self.publicKey(key, allowed)), keyID: keyID)
        case "EC":
            guard let name = try reader.string("crv"), let curve = EllipticCurve(rawValue: name) else {
                throw JWTError(.key, "the key's curve (crv) is missing, or is not P-256, P-384 or P-521")
            }
            let (x, y) = (try reader.bytes("x"), try reader.bytes("y"))
            let key = { () throws(CryptoError) in try KeyMaker.elliptic(curve, x: x, y: y) }
            self.init(.asymmetric(try Self.publicKey(key, allowed)), keyID: keyID)
        case "OKP":
            guard let name = try reader.string("crv"), let curve = EdwardsCurve(rawValue: name) else {
                throw JWTError(.key, "the key's curve (crv) is missing, or is not Ed25519 or Ed448")
            }
            let x = try reader.bytes("x")
            let key = { () throws(CryptoError) in try KeyMaker.edwards(curve, x: x) }
            self.init(.asymmetric(try Self.publicKey(key, allowed)), keyID: keyID)
        case nil: throw JWTError(.key, "the key has no type (kty)")
        default: throw JWTError(.key, "the key's type (kty) is not RSA, EC, OKP or oct")
        }
    }
}

extension JSONWebKey {
    private static func publicKey(
        _ make: () throws(CryptoError) -> OpaquePointer, _ allowed: [JWTAlgorithm]
    ) throws(JWTError) -> PublicKey {
        let key: OpaquePointer
        do throws(CryptoError) { key = try make() } catch { throw JWTError(error) }
        return try PublicKey(key, allowed: allowed)
    }
}

/// The members of a JWK. Their values are decoded only where they are used, so that no copy of a secret is left.
private struct KeyReader: ~Escapable {
    private let json: Span<UInt8>
    private let index: JSONIndex

    @_lifetime(copy json)
    init(_ json: Span<UInt8>) throws(JSONError) {
        self.json = json
        index = try JSONIndex(json, depth: 8)
    }

    func string(_ name: String) throws(JWTError) -> String? {
        do { return try index.string(name, in: json) } catch { throw JWTError(.key, "the key's member \(name) is not a string") }
    }

    func operations() throws(JWTError) -> [String]? {
        guard let member = index.member("key_ops", in: json) else { return nil }
        guard member.kind == .array, case .array(let values)? = try? JSONValue(parsing: json.extracting(member.value)) else {
            throw JWTError(.key, "the key's member key_ops is not an array")
        }
        return values.compactMap { $0.string }
    }

    func bytes(_ name: String) throws(JWTError) -> [UInt8] {
        guard let text = try string(name) else { throw JWTError(.key, "the key has no member \(name)") }
        guard let bytes = Base64.decoded(Array(text.utf8), .strictURL), !bytes.isEmpty else {
            throw JWTError(.key, "the key's member \(name) is not base64url without padding")
        }
        return bytes
    }

    func secret(_ name: String) throws(JWTError) -> Secret {
        guard let member = index.member(name, in: json), member.kind == .string else {
            throw JWTError(.key, "the key has no member \(name)")
        }
        let text = json.extracting(member.contents)
        guard let secret = text.withUnsafeBytes({ Base64.secret($0, .strictURL) }) else {
            throw JWTError(.key, "the key's member \(name) is not base64url without padding")
        }
        return secret
    }
}
