package import NevodSupport

/// The way in which a request says which client sends it, and proves it (RFC 6749 §2.3).
package enum ClientIdentity: Sendable {
    /// Not at all, or in a way that other code adds.
    case unknown
    /// The identifier alone: a client that can't keep a secret, or that proves itself with a certificate (RFC 8705).
    case identifier(String)
    /// Identifier and secret in the Authorization field (`client_secret_basic`).
    case basic(String, Secret)
    /// Identifier and secret in the form (`client_secret_post`).
    case form(String, Secret)
    /// A signed assertion in the form (RFC 7523 §2.2). Without an identifier, the assertion names the client.
    case assertion(Secret, id: String?)
    /// A token of the client's own in the Authorization field (RFC 7662 §2.1).
    case bearer(Secret)

    /// A field of the request's form.
    package struct Field: Sendable {
        package let name: String
        package let value: Secret
        /// Whether no error may show the value.
        package let isSecret: Bool

        /// The value, revealed if it is secret.
        package var text: String { value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    }

    /// The value of the Authorization field; nil if there is none.
    package var authorization: String? {
        switch self {
        case .basic(let id, let secret):
            let (name, proof) = (Self.encoded(id.utf8), secret.withUnsafeBytes { Self.encoded($0) })
            return "Basic \(Base64.encoded(name + [UInt8(ascii: ":")] + proof))"
        case .bearer(let token): return token.withUnsafeBytes { "Bearer \(String(decoding: $0, as: UTF8.self))" }
        case .unknown, .identifier, .form, .assertion: return nil
        }
    }

    /// The fields to add to the request's form.
    package var fields: [Field] {
        func field(_ name: String, _ value: String) -> Field { Field(name: name, value: Secret(value), isSecret: false) }
        switch self {
        case .identifier(let id): return [field("client_id", id)]
        case .form(let id, let secret):
            return [field("client_id", id), Field(name: "client_secret", value: secret, isSecret: true)]
        case .assertion(let assertion, let id):
            let type = field("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            return (id.map { [field("client_id", $0)] } ?? [])
                + [type, Field(name: "client_assertion", value: assertion, isSecret: true)]
        case .unknown, .basic, .bearer: return []
        }
    }

    /// The value that no error may show; nil if there is none.
    package var secret: Secret? {
        switch self {
        case .basic(_, let secret), .form(_, let secret), .assertion(let secret, _), .bearer(let secret): secret
        case .unknown, .identifier: nil
        }
    }

    /// Encodes a part of HTTP Basic as a form's field (RFC 6749 §2.3.1). Encodes only what servers need, because some don't
    /// decode it, and writes a space in the form that every server decodes.
    private static func encoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text {
            let isKept = byte.isUnreserved || byte == UInt8(ascii: "*")
            if isKept { bytes.append(byte) } else { PercentEncoding.append(byte, to: &bytes) }
        }
        return bytes
    }
}
