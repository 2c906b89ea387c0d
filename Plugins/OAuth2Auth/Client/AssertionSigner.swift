internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// Makes JSON Web Tokens (RFC 7519) that prove to a server who a client is, or for whom it asks (RFC 7523).
struct AssertionSigner: Sendable {
    private enum Key: Sendable {
        case pair(PrivateKey)
        case shared(Secret)
    }

    private let key: Key
    /// Those that may be used, in the order of preference.
    let algorithms: [AssertionAlgorithm]
    /// The header `kid`.
    let keyID: String?
    /// The service account that a key file of Google names; nil for any other key.
    let account: String?

    /// The names of the settings that a key is from, for errors.
    struct Names: Sendable {
        let key, algorithm: String
    }

    /// Reads a private key: a PEM, a JWK (RFC 7517), or the JSON file of a Google service account, whose PEM and names are taken.
    ///
    /// - Parameters:
    ///   - algorithm: nil for that of the key.
    ///   - keyID: nil for that in a JWK or a service account's file.
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
    /// - Throws: ``SchemeError/badSetting(_:_:)`` for a secret that is too short: whoever sees one assertion could find it.
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
                    + "(RFC 7518 §3.2); client-auth=basic takes any")
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
            bytes.first { $0 != 0x20 && !(0x09...0x0D).contains($0) } == UInt8(ascii: "{")
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
    /// A fresh identifier for a purpose (`jti`, RFC 7519 §4.1.7). Derived of the host's random bytes, because other parts of a flow
    /// use the same bytes, some of them as a secret.
    func identifier(for purpose: StaticString) throws(SchemeError) -> String {
        var info: [UInt8] = []
        info.append(ascii: purpose)
        let bytes = try HKDF.derive(16, from: Secret(copying: random), info: info)
        return bytes.withUnsafeBytes { Base64URL.encoded(Span(_unsafeBytes: $0)) }
    }
}
