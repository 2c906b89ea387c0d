internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// Makes JSON Web Tokens (RFC 7519) that prove a client's identity to a server, or name the user it acts for (RFC 7523).
struct AssertionSigner: Sendable {
    private enum Key: Sendable {
        case pair(PrivateKey)
        case shared(Secret)
    }

    private let key: Key
    /// The usable algorithms, in the order of preference.
    let algorithms: [AssertionAlgorithm]
    /// The header `kid`.
    let keyID: String?
    /// The service account that a key file of Google names; nil for any other key.
    let account: String?

    /// The names of the settings that hold a key, for errors.
    struct Names: Sendable {
        let key, algorithm: String
    }

    /// Reads a private key: a PEM, a JWK (RFC 7517), or the JSON file of a Google service account, which holds a PEM and names.
    ///
    /// - Parameters:
    ///   - algorithm: nil for the key's own.
    ///   - keyID: nil for the id in a JWK or in a service account's file.
    /// - Throws: ``SchemeError/badSetting(_:_:)``, without any part of the text.
    init(key text: Secret, _ algorithm: AssertionAlgorithm?, keyID: String?, _ names: Names) throws(SchemeError) {
        var (ownAlgorithm, ownID, account): (String?, String?, String?) = (nil, nil, nil)
        let pair: PrivateKey
        if Self.isJSON(text) {
            let json = try Self.json(text, names.key)
            if json["kty"] != nil {
                do throws(SchemeError) { pair = try PrivateKey(jwk: json) } catch {
                    throw .badSetting(names.key, "is not a key that can be used: \(error.message)")
                }
                (ownAlgorithm, ownID) = (json["alg"]?.string, json["kid"]?.string)
            } else if let pem = json["private_key"]?.string {
                pair = try PrivateKey(pem: Secret(pem), setting: names.key)
                (ownID, account) = (json["private_key_id"]?.string, json["client_email"]?.string)
            } else {
                throw .badSetting(names.key, "is JSON, but neither a JWK nor the key file of a service account")
            }
        } else {
            pair = try PrivateKey(pem: text, setting: names.key)
        }
        let possible = AssertionAlgorithm.all(for: pair.publicKey.jwk)
        let wanted = algorithm ?? ownAlgorithm.flatMap { AssertionAlgorithm(rawValue: $0) }
        if let wanted, !possible.contains(wanted) {
            throw .badSetting(
                algorithm == nil ? names.key : names.algorithm,
                "\(wanted.rawValue) is not an algorithm of the key, which has \(Self.list(possible))")
        }
        key = .pair(pair)
        algorithms = wanted.map { [$0] } ?? possible
        self.keyID = keyID ?? ownID
        self.account = account
    }

    /// Takes a client's secret as the key of an HMAC (OpenID Connect Core §9, client_secret_jwt).
    ///
    /// - Throws: ``SchemeError/badSetting(_:_:)`` for a secret that is too short, because anybody who sees one assertion could
    ///   guess it.
    init(secret: Secret, _ algorithm: AssertionAlgorithm?, _ names: Names) throws(SchemeError) {
        let possible = AssertionAlgorithm.all(forSecretOf: secret.count)
        if let algorithm, algorithm.signature != nil {
            throw .badSetting(names.algorithm, "\(algorithm.rawValue) is not for a secret; HS256 is")
        }
        guard algorithm.map({ possible.contains($0) }) ?? !possible.isEmpty else {
            let wanted = algorithm ?? .hs256
            throw .badSetting(
                names.key,
                "is too short for client-auth=client-secret-jwt: \(wanted.rawValue) needs \(wanted.hash.size) bytes "
                    + "(RFC 7518 §3.2); client-auth=basic accepts any length")
        }
        key = .shared(secret)
        algorithms = algorithm.map { [$0] } ?? possible
        (keyID, account) = (nil, nil)
    }

    /// A signed token with the claims.
    ///
    /// - Parameter accepted: the algorithms that the server's metadata name; empty if unknown.
    func token(_ claims: [JSONValue.Member], accepted: [String] = []) throws(SchemeError) -> Secret {
        guard let algorithm = algorithms.first(where: { accepted.contains($0.rawValue) }) ?? algorithms.first else {
            throw .internal("a key without an algorithm")
        }
        var header = [JSONValue.Member("alg", .string(algorithm.rawValue)), JSONValue.Member("typ", "JWT")]
        if let keyID { header.append(JSONValue.Member("kid", .string(keyID))) }
        var text: [UInt8] = []
        Self.append(.object(header), to: &text)
        text.append(ascii: ".")
        Self.append(.object(claims), to: &text)
        let proof = try signature(of: text.span, algorithm)
        text.append(ascii: ".")
        text.append(base64URL: proof.span)
        return Secret(copying: text)
    }

    private func signature(of message: Span<UInt8>, _ algorithm: AssertionAlgorithm) throws(SchemeError) -> [UInt8] {
        switch key {
        case .pair(let pair):
            guard let signature = algorithm.signature else { throw .internal("an algorithm that is not the key's") }
            return try pair.signature(of: message, signature)
        case .shared(let secret):
            let code = try secret.withUnsafeBytes { secret throws(SchemeError) in
                try algorithm.hash.hmac(key: Span(_unsafeBytes: secret), of: message)
            }
            var bytes: [UInt8] = []
            bytes.append(code.bytes)
            return bytes
        }
    }

    private static func append(_ json: JSONValue, to text: inout [UInt8]) {
        json.encoded.withUnsafeBytes { text.append(base64URL: Span(_unsafeBytes: $0)) }
    }

    /// Names for a message.
    private static func list(_ algorithms: [AssertionAlgorithm]) -> String {
        algorithms.map { $0.rawValue }.joined(separator: ", ")
    }

    private static func isJSON(_ text: Secret) -> Bool {
        text.withUnsafeBytes { bytes in
            bytes.first { !$0.isCWhitespace } == UInt8(ascii: "{")
        }
    }

    private static func json(_ text: Secret, _ setting: String) throws(SchemeError) -> JSONValue {
        do throws(JSONError) {
            return try text.withUnsafeBytes { bytes throws(JSONError) in
                try JSONValue(parsing: Span(_unsafeBytes: bytes), size: 64 << 10, depth: 8)
            }
        } catch {
            throw .badSetting(setting, "is not valid JSON at byte \(error.offset)")
        }
    }
}

extension AuthFlow {
    /// A fresh identifier for a purpose (`jti`, RFC 7519 §4.1.7). Derived from the host's random bytes by a hash, because other
    /// parts of a flow use the same bytes, sometimes as a secret.
    func identifier(for purpose: StaticString) throws(SchemeError) -> String {
        var info: [UInt8] = []
        info.append(ascii: purpose)
        let bytes = try HKDF.derive(16, from: Secret(copying: random), info: info)
        return bytes.withUnsafeBytes { Base64URL.encoded(Span(_unsafeBytes: $0)) }
    }
}

/// The algorithm of an assertion's signature, by its name in JOSE (RFC 7518 §3.1, RFC 8037 §3.1).
enum AssertionAlgorithm: String, CaseIterable, SettingValue {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"

    /// The algorithms for a key pair. The first is the default.
    ///
    /// - Parameter jwk: the public key.
    static func all(for jwk: JSONValue) -> [AssertionAlgorithm] {
        switch (jwk["kty"]?.string ?? "", jwk["crv"]?.string ?? "") {
        // Every server supports RS256 (RFC 7523 §5). A server that accepts only PS256 says so in its metadata.
        case ("RSA", _): [.rs256, .ps256, .rs384, .rs512, .ps384, .ps512]
        case ("EC", "P-256"): [.es256]
        case ("EC", "P-384"): [.es384]
        case ("EC", "P-521"): [.es512]
        case ("OKP", _): [.edDSA]
        default: []
        }
    }

    /// The algorithms for a shared secret. It must be at least as long as the hash (RFC 7518 §3.2).
    static func all(forSecretOf count: Int) -> [AssertionAlgorithm] {
        [.hs256, .hs384, .hs512].filter { $0.hash.size <= count }
    }

    var hash: HashFunction {
        switch self {
        case .rs256, .ps256, .es256, .hs256, .edDSA: .sha256
        case .rs384, .ps384, .es384, .hs384: .sha384
        case .rs512, .ps512, .es512, .hs512: .sha512
        }
    }

    /// The signature algorithm of a key pair; nil for algorithms of a shared secret.
    var signature: SignatureAlgorithm? {
        switch self {
        case .rs256, .rs384, .rs512: .rsaPKCS1(hash)
        case .ps256, .ps384, .ps512: .rsaPSS(hash)
        case .es256, .es384, .es512: .ecdsa(hash)
        case .edDSA: .edDSA
        case .hs256, .hs384, .hs512: nil
        }
    }
}

extension OAuth2Auth {
    /// The lifetime of an assertion in seconds. It is short, because an assertion is sent at once and must be useless to anybody
    /// who finds it later.
    static let assertionLifetime = 60

    static let clientKeyNames = AssertionSigner.Names(key: "client-key", algorithm: "client-key-alg")
    static let clientSecretNames = AssertionSigner.Names(key: "client-secret", algorithm: "client-key-alg")

    /// A token that proves the client's identity (RFC 7523 §3, OpenID Connect Core §9). It is valid once, for a minute, at this
    /// server.
    func clientAssertion(
        _ signer: AssertionSigner, _ clientID: String, at endpoints: Endpoints, _ flow: AuthFlow
    ) throws(SchemeError) -> Secret {
        let now = flow.unixSeconds
        return try signer.token(
            [
                JSONValue.Member("iss", .string(clientID)), JSONValue.Member("sub", .string(clientID)),
                JSONValue.Member("aud", .string(clientAudience(at: endpoints))),
                JSONValue.Member("jti", .string(try flow.identifier(for: "client assertion"))),
                JSONValue.Member("iat", .integer(now)), JSONValue.Member("exp", .integer(now + Int64(Self.assertionLifetime))),
            ],
            accepted: endpoints.assertionAlgorithms)
    }

    /// The audience of the client's assertions: the issuer, if it is known. An attacker's server could name another server's token
    /// endpoint in its metadata, and use an assertion for that address there. It can't name another issuer, because the issuer is
    /// compared with the setting.
    func clientAudience(at endpoints: Endpoints) -> String {
        clientAssertionAudience ?? endpoints.issuer ?? endpoints.token
    }
}
