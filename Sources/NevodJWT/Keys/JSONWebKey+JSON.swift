internal import NevodCrypto
internal import NevodSupport

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
                throw JWTError(.key, "the shared secret is a public key, which is no secret")
            }
            self.init(.shared(try SharedKey(secret, allowed: allowed)), keyID: keyID)
        case "RSA":
            let (n, e) = (try reader.bytes("n"), try reader.bytes("e"))
            let key = { () throws(CryptoError) in try KeyMaker.rsa(modulus: n, exponent: e) }
            self.init(.asymmetric(try Self.publicKey(key, allowed)), keyID: keyID)
        case "EC":
            guard let name = try reader.string("crv"), let curve = EllipticCurve(rawValue: name) else {
                throw JWTError(.key, "the key's curve (crv) is missing, or none of P-256, P-384 and P-521")
            }
            let (x, y) = (try reader.bytes("x"), try reader.bytes("y"))
            let key = { () throws(CryptoError) in try KeyMaker.elliptic(curve, x: x, y: y) }
            self.init(.asymmetric(try Self.publicKey(key, allowed)), keyID: keyID)
        case "OKP":
            guard let name = try reader.string("crv"), let curve = EdwardsCurve(rawValue: name) else {
                throw JWTError(.key, "the key's curve (crv) is missing, or neither Ed25519 nor Ed448")
            }
            let x = try reader.bytes("x")
            let key = { () throws(CryptoError) in try KeyMaker.edwards(curve, x: x) }
            self.init(.asymmetric(try Self.publicKey(key, allowed)), keyID: keyID)
        case nil: throw JWTError(.key, "the key has no type (kty)")
        default: throw JWTError(.key, "the key's type (kty) is none of RSA, EC, OKP and oct")
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

/// The members of a JWK. Their values are decoded where they are used, so that no copy of a secret is left.
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
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: (text.count + 3) / 4 * 3, alignment: 1)
        defer {
            memory.wipe()
            memory.deallocate()
        }
        guard let count = text.withUnsafeBytes({ Base64.decode($0, .strictURL, to: memory) }) else {
            throw JWTError(.key, "the key's member \(name) is not base64url without padding")
        }
        return Secret(copying: UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
}
