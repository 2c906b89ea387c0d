public import NevodHost
internal import NevodOAuth
internal import NevodStorage
internal import NevodSupport

/// How a client identifies itself to an authorization server (RFC 6749 §2.3).
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

    var identity: ClientIdentity {
        switch self {
        case .basic(let id, let secret): .basic(id, secret)
        case .form(let id, let secret): .form(id, secret)
        case .publicClient(let id): .identifier(id)
        case .bearer(let token): .bearer(token)
        case .byInterceptor: .unknown
        }
    }
}
