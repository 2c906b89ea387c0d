internal import NevodSupport

/// The header of a token (RFC 7515 §4). Its contents come from the token, and aren't reliable until the signature is verified.
///
/// The parameters `jwk`, `jku`, `x5u` and `x5c`, with which a token would supply its own key, are never used.
public struct JWTHeader: Sendable, Hashable {
    /// `alg`: the name of the algorithm, known or not.
    public let algorithm: String
    /// `kid`: identifies the issuer's key that signed.
    public let keyID: String?
    /// `typ`: the media type of the token, such as `JWT` or `at+jwt`.
    public let type: String?
    /// `cty`: the media type of the payload.
    public let contentType: String?

    /// Nil for `none` and for unknown algorithms.
    let knownAlgorithm: JWTAlgorithm?

    init(json: [UInt8]) throws(JWTError) {
        let index: JSONIndex
        do { index = try JSONIndex(json.span) } catch { throw JWTError(.malformed, "the header is not a JSON object: \(error)") }
        guard let algorithm = try Self.string("alg", index, json) else {
            throw JWTError(.malformed, "the header has no parameter alg")
        }
        if index.member("enc", in: json.span) != nil {
            throw JWTError(.encrypted, "the token is encrypted (its header has enc); only signed tokens are read")
        }
        if index.member("crit", in: json.span) != nil {
            throw JWTError(.critical, "the header has unknown critical extensions (crit)")
        }
        if let encoded = index.member("b64", in: json.span), encoded.kind != .true {
            throw JWTError(.critical, "the payload is not in base64url (b64)")
        }
        if index.member("zip", in: json.span) != nil { throw JWTError(.nested, "the token is compressed (zip)") }
        self.algorithm = algorithm
        knownAlgorithm = JWTAlgorithm(rawValue: algorithm)
        keyID = try Self.string("kid", index, json)
        type = try Self.string("typ", index, json)
        contentType = try Self.string("cty", index, json)
        if let contentType, MediaType.matches(contentType, "JWT") {
            throw JWTError(.nested, "the token contains another one (cty)")
        }
    }

    private static func string(_ name: String, _ index: JSONIndex, _ json: [UInt8]) throws(JWTError) -> String? {
        do { return try index.string(name, in: json.span) } catch {
            throw JWTError(.malformed, "the header's parameter \(name) is not a string")
        }
    }
}

extension JWTHeader: CustomStringConvertible {
    /// The algorithm, if it is known.
    public var description: String {
        "JWTHeader(\(knownAlgorithm?.rawValue ?? "an unknown algorithm"))"
    }
}

/// Media types of headers (RFC 7515 §4.1.9): `application/` may be left out if no other slash follows.
enum MediaType {
    static func matches(_ one: String, _ other: String) -> Bool {
        one.utf8.elementsEqual(other.utf8) || normal(one).elementsEqual(normal(other))
    }

    /// The type as bytes, with ASCII letters in lower case. Other letters are compared as they are.
    private static func normal(_ type: String) -> [UInt8] {
        let lower = type.utf8.map { $0.lowercased }
        let prefix = Array("application/".utf8)
        guard lower.starts(with: prefix) else { return lower }
        let rest = lower.dropFirst(prefix.count)
        return rest.contains(UInt8(ascii: "/")) ? lower : Array(rest)
    }
}
