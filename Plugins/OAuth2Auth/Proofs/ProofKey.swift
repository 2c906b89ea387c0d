internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// The key that a token is bound to. Its proofs show a server that a request's client has the key (RFC 9449 §4).
struct ProofKey: Sendable {
    let algorithm: ProofAlgorithm
    /// The private key as its number (`d` in a JWK).
    private let number: Secret
    private let key: PrivateKey
    /// The first part of each proof: the encoded header with the public key, and a full stop.
    private let head: [UInt8]

    /// Makes a key.
    ///
    /// - Parameter random: 32 bytes that are used for nothing else.
    /// - Throws: ``SchemeError/internal(_:detail:)`` if libcrypto fails.
    init(_ algorithm: ProofAlgorithm, from random: [UInt8]) throws(SchemeError) {
        let curve = algorithm.curve
        // A number may be outside its curve's range, for P-256 once in 2³².
        for counter in UInt8(0)..<8 {
            let number = try HKDF.derive(
                curve.size, from: Secret(copying: random), info: Array("DPoP \(algorithm.rawValue)".utf8) + [counter], .sha512)
            guard let key = try? PrivateKey(curve, number) else { continue }
            self.init(algorithm, number, key)
            return
        }
        throw .internal("no key of \(curve.rawValue) could be made from the host's random bytes")
    }

    /// Reads the key of a stored token: the algorithm's name, a space, and the number in base64url.
    ///
    /// - Throws: ``SchemeError/badToken(_:)``.
    init(stored: Secret) throws(SchemeError) {
        let parts = stored.withUnsafeBytes { bytes in
            let name = bytes.prefix { $0 != UInt8(ascii: " ") }
            let digits = Secret(copying: UnsafeRawBufferPointer(rebasing: bytes[name.endIndex...].dropFirst()))
            return (String(decoding: name, as: UTF8.self), Base64.decoded(digits, .strictURL))
        }
        guard let algorithm = ProofAlgorithm(rawValue: parts.0), let number = parts.1,
            let key = try? PrivateKey(algorithm.curve, number)
        else { throw .badToken("the key of the stored token is damaged, or from another version of this plugin") }
        self.init(algorithm, number, key)
    }

    private init(_ algorithm: ProofAlgorithm, _ number: Secret, _ key: PrivateKey) {
        let header: JSONValue = [
            "typ": "dpop+jwt", "alg": .string(algorithm.rawValue), "jwk": key.publicKey.jwk,
        ]
        var head: [UInt8] = []
        header.encoded.withUnsafeBytes { head.append(base64URL: Span(_unsafeBytes: $0)) }
        head.append(ascii: ".")
        self.algorithm = algorithm
        self.number = number
        self.key = key
        self.head = head
    }

    /// The form that ``init(stored:)`` reads.
    var stored: Secret {
        number.withUnsafeBytes { number in
            withByteWriter(capacity: 128) { text in
                text.append(text: algorithm.rawValue)
                text.append(ascii: " ")
                text.append(base64URL: Span(_unsafeBytes: number))
                return Secret(text.bytes)
            }
        }
    }

    /// The public key's thumbprint with SHA-256 (RFC 7638), as in `dpop_jkt` and `jkt`.
    ///
    /// - Throws: ``SchemeError/internal(_:detail:)`` if libcrypto fails.
    var thumbprint: String {
        get throws(SchemeError) { try Self.thumbprint(of: key.publicKey) }
    }

    /// - Parameter key: a public key. Its ``PublicKey/jwk`` has the members and the order of a thumbprint's input.
    static func thumbprint(of key: PublicKey) throws(SchemeError) -> String {
        let digest = try key.jwk.encoded.withUnsafeBytes { json throws(SchemeError) in
            try HashFunction.sha256.digest(of: Span(_unsafeBytes: json))
        }
        return Base64URL.encoded(digest.bytes)
    }

    /// A request as a proof describes it.
    struct Claims {
        /// The method, as sent.
        let method: [UInt8]
        /// The URL without query and fragment.
        let url: [UInt8]
        /// Seconds since 1970 UTC.
        let issuedAt: Int64
        /// Random bytes, different for each proof.
        let id: [UInt8]
        /// Empty if the server gave no nonce.
        var nonce: [UInt8] = []
        /// The hash of the access token in base64url; empty for a request without a token.
        var tokenHash: [UInt8] = []
    }

    /// Signs a proof for one request (§4.2).
    ///
    /// - Returns: the value of the header `DPoP`.
    /// - Throws: ``SchemeError/internal(_:detail:)`` if libcrypto fails.
    func proof(_ claims: Claims) throws(SchemeError) -> [UInt8] {
        let json = withByteWriter(capacity: 512) { json in
            json.append(claims)
            return json.bytes.withUnsafeBufferPointer { Array($0) }
        }
        return try withByteWriter(capacity: 1024) { proof throws(SchemeError) in
            proof.append(head.span)
            proof.append(base64URL: json.span)
            let signature = try key.signature(of: proof.bytes, algorithm.signature)
            proof.append(ascii: ".")
            proof.append(base64URL: signature.span)
            return proof.bytes.withUnsafeBufferPointer { Array($0) }
        }
    }
}

extension ByteWriter {
    @_lifetime(self: copy self)
    fileprivate mutating func append(_ claims: ProofKey.Claims) {
        append(ascii: "{\"jti\":\"")
        append(base64URL: claims.id.span)
        append(ascii: "\",\"htm\":")
        append(jsonString: claims.method)
        append(ascii: ",\"htu\":")
        append(jsonString: claims.url)
        append(ascii: ",\"iat\":")
        append(decimal: claims.issuedAt)
        if !claims.tokenHash.isEmpty {
            append(ascii: ",\"ath\":")
            append(jsonString: claims.tokenHash)
        }
        if !claims.nonce.isEmpty {
            append(ascii: ",\"nonce\":")
            append(jsonString: claims.nonce)
        }
        append(ascii: "}")
    }

    /// Appends text in quotation marks, with escapes where JSON demands them (RFC 8259 §7).
    @_lifetime(self: copy self)
    private mutating func append(jsonString text: [UInt8]) {
        append(ascii: "\"")
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(ascii: "\\")
                append(byte: byte)
            case 0..<0x20:
                append(ascii: "\\u00")
                append(hex: [byte].span)
            default: append(byte: byte)
            }
        }
        append(ascii: "\"")
    }
}

/// The algorithm of proofs, by its name in JOSE (RFC 7518 §3.1, RFC 8037 §3.1), in the order of preference.
enum ProofAlgorithm: String, CaseIterable, SettingValue {
    case es256 = "ES256"
    case edDSA = "EdDSA"
    case es384 = "ES384"

    var curve: KeyCurve {
        switch self {
        case .es256: .p256
        case .edDSA: .ed25519
        case .es384: .p384
        }
    }

    var signature: SignatureAlgorithm {
        switch self {
        case .es256: .ecdsa(.sha256)
        case .edDSA: .edDSA
        case .es384: .ecdsa(.sha384)
        }
    }
}

/// A token's key, with the token's hash. Each proof for a resource contains the hash (RFC 9449 §4.2, `ath`).
struct KeyBinding: Sendable {
    let key: ProofKey
    let tokenHash: [UInt8]

    /// - Throws: ``SchemeError/badToken(_:)`` if the key is missing or damaged.
    init(_ token: StoredToken) throws(SchemeError) {
        guard let stored = token.proofKey else { throw .badToken("the stored token is bound to a key (DPoP) that is missing") }
        try self.init(ProofKey(stored: stored), token.accessToken)
    }

    init(_ key: ProofKey, _ accessToken: Secret) throws(SchemeError) {
        let digest = try accessToken.withUnsafeBytes { token throws(SchemeError) in
            try HashFunction.sha256.digest(of: Span(_unsafeBytes: token))
        }
        var tokenHash: [UInt8] = []
        tokenHash.append(base64URL: digest.bytes)
        self.key = key
        self.tokenHash = tokenHash
    }

    /// Signs a proof for a request to a resource (§7), with the nonce from the state.
    func proof(for request: borrowing RequestView) throws(SchemeError) -> [UInt8] {
        // 128 bits; a proof needs 96 (§4.2).
        guard request.random.count >= 16 else { throw .internal("the host gave no random bytes for a proof (DPoP)") }
        var url: [UInt8] = []
        url.append(request.scheme)
        url.append(ascii: "://")
        url.append(request.authority)
        url.append(request.path)
        return try key.proof(
            ProofKey.Claims(
                method: bytes(request.method), url: url, issuedAt: request.unixSeconds,
                id: bytes(request.random.extracting(first: 16)), nonce: ProofNonce.kept(by: request.state), tokenHash: tokenHash))
    }

    private func bytes(_ span: Span<UInt8>) -> [UInt8] {
        span.withUnsafeBufferPointer { Array($0) }
    }
}
