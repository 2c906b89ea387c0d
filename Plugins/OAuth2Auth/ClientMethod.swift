internal import NevodPluginKit
internal import NevodSupport

/// How a client proves who it is at the server's endpoints (RFC 6749 §2.3, OpenID Connect Core §9).
enum ClientMethod: String, CaseIterable, SettingValue {
    /// What the metadata and the settings allow: a key before a secret, Basic before the form.
    case auto
    /// HTTP Basic with identifier and secret, each encoded as a form's field (RFC 6749 §2.3.1).
    case basic
    /// Identifier and secret in the form.
    case post
    /// The identifier in the form, and no proof: a public client.
    case none
}

extension OAuth2Auth {
    /// Refuses settings of the client that contradict each other.
    func checkClient() throws(SchemeError) {
        if let clientSecret, clientSecret.isEmpty { throw .badSetting("client-secret", "must not be empty") }
        switch clientAuthentication {
        case .basic, .post:
            guard clientSecret != nil else {
                throw .badSetting("client-secret", "is needed for client-auth=\(clientAuthentication.rawValue)")
            }
        case .auto, .none: break
        }
    }

    /// Adds the client's identifier and proof to a request to one of the server's endpoints.
    func identify(
        _ fields: inout FormFields, _ headers: inout [(name: String, value: String)], at endpoints: Endpoints, _ flow: AuthFlow
    ) throws(SchemeError) {
        guard let clientID else { return }
        guard let clientSecret, clientAuthentication != .none else {
            fields.append("client_id", .text(clientID))
            return
        }
        if clientAuthentication == .post || clientAuthentication == .auto && endpoints.prefersSecretInForm {
            fields.append("client_id", .text(clientID))
            fields.append("client_secret", .secret(clientSecret))
        } else {
            headers.append(("Authorization", Self.basic(clientID, clientSecret)))
        }
    }

    /// The value of an Authorization header: both parts are encoded as form fields first.
    static func basic(_ clientID: String, _ secret: Secret) -> String {
        var encoded = WipedBytes()
        var form = FormFields()
        form.append(clientID, .secret(secret))
        // `name=value`, of which neither side can hold an equals sign.
        form.encoded.withUnsafeBytes { bytes in
            for byte in bytes { encoded.append(byte == UInt8(ascii: "=") ? UInt8(ascii: ":") : byte) }
        }
        return encoded.secret.withUnsafeBytes { bytes in
            withByteWriter(capacity: 6 + bytes.count * 2) { text in
                text.append(ascii: "Basic ")
                text.append(base64: Span(_unsafeBytes: bytes))
                return text.bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            }
        }
    }
}
