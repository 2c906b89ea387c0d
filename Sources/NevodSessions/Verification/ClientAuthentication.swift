public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// How a program shows an authorization server which client it is (RFC 6749 §2.3).
public enum ClientAuthentication: Sendable {
    /// Identifier and secret in the Authorization field (`client_secret_basic`).
    case basic(id: String, secret: Secret)
    /// Identifier and secret in the form (`client_secret_post`).
    case form(id: String, secret: Secret)
    /// The identifier of a client without a secret, such as an app (`none`).
    case publicClient(id: String)
    /// A token of the client's own (RFC 7662 §2.1).
    case bearer(Secret)
    /// Nothing; for a provider whose interceptors add the credential.
    case byInterceptor

    func authenticate(_ request: inout HTTPRequest, _ form: inout [(name: String, value: String)]) throws(InvalidRequestError) {
        switch self {
        case .basic(let id, let secret):
            // Both are encoded as in a form first (RFC 6749 §2.3.1).
            let pair = Self.encoded(id) + [UInt8(ascii: ":")] + Self.encoded(secret.text)
            try request.setHeader("Authorization", "Basic \(pair.withUnsafeBytes { Base64.encoded($0) })")
        case .form(let id, let secret): form += [("client_id", id), ("client_secret", secret.text)]
        case .publicClient(let id): form.append(("client_id", id))
        case .bearer(let token): try request.setHeader("Authorization", "Bearer \(token.text)")
        case .byInterceptor: break
        }
    }

    private static func encoded(_ text: String) -> [UInt8] { PercentEncoding.queryItem(text.utf8) }
}

extension Secret {
    fileprivate var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
