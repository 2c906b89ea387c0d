internal import NevodPluginKit

/// The members of a JWK. Their values are no secrets anymore to the JSON that they come in.
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
            throw .unsupported("the key's curve (crv) is missing, or none of P-256, P-384, P-521 and Ed25519")
        }
        let isElliptic = jwk["kty"]?.string == "EC"
        guard isElliptic == (curve.elliptic != nil) else { throw .unsupported("the key's curve (crv) is not of its type (kty)") }
        return curve
    }
}
