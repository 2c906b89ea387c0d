internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// The way a client proves its identity at the server's endpoints (RFC 6749 §2.3, OpenID Connect Core §9, RFC 8705).
enum ClientMethod: String, CaseIterable, SettingValue {
    /// The method that the metadata and the settings allow: a key before a secret, Basic before the form.
    case auto
    /// HTTP Basic with identifier and secret, each encoded as a form's field (RFC 6749 §2.3.1). Some servers don't decode them.
    /// With such a server, a secret with characters other than letters, digits and `-._~*` fails here, but works with ``post``.
    case basic
    /// Identifier and secret in the form.
    case post
    /// A token signed with the client's private key (RFC 7523 §2.2), or a token that the platform has issued to this workload.
    case privateKeyJWT = "private-key-jwt"
    /// A token signed with the secret (OpenID Connect Core §9, client_secret_jwt).
    case clientSecretJWT = "client-secret-jwt"
    /// The certificate of the host's connection (RFC 8705 §2), and the identifier in the form.
    case tls
    /// The identifier in the form, and no proof: a public client.
    case none

    /// The method that fits the client's credentials and that the server accepts.
    ///
    /// - Parameter offered: `token_endpoint_auth_methods_supported`; empty if unknown.
    static func automatic(hasKey: Bool, hasSecret: Bool, offered: [String]) -> ClientMethod {
        if hasKey, !hasSecret || offered.isEmpty || offered.contains("private_key_jwt") { return .privateKeyJWT }
        guard hasSecret else { return .none }
        // Every server that issues secrets must accept Basic (RFC 6749 §2.3.1).
        if offered.isEmpty || offered.contains("client_secret_basic") { return .basic }
        if offered.contains("client_secret_post") { return .post }
        return offered.contains("client_secret_jwt") ? .clientSecretJWT : .basic
    }
}

extension OAuth2Auth {
    /// Reads the client's key, and refuses settings of the client that contradict each other.
    mutating func prepareClient() throws(SchemeError) {
        if let clientID, clientID.isEmpty { throw .badSetting("client-id", "must not be empty") }
        if let clientSecret, clientSecret.isEmpty { throw .badSetting("client-secret", "must not be empty") }
        let method = "client-auth=\(clientAuthentication.rawValue)"
        switch clientAuthentication {
        case .basic, .post, .clientSecretJWT:
            guard clientSecret != nil else { throw .badSetting("client-secret", "is needed for \(method)") }
        case .privateKeyJWT:
            guard clientKey != nil || workload.isGiven else {
                throw .badSetting(
                    "client-key", "is needed for \(method); or token-file or metadata-url, for a token that the platform issues")
            }
        case .none, .tls:
            for (name, isGiven) in [("client-secret", clientSecret != nil), ("client-key", clientKey != nil)] where isGiven {
                throw .badSetting(name, "has no meaning with \(method)")
            }
        case .auto: break
        }
        for (name, isGiven) in [("client-key-id", clientKeyID != nil), ("client-key-alg", clientKeyAlgorithm != nil)]
        where isGiven && clientKey == nil && clientAuthentication != .clientSecretJWT {
            throw .badSetting(name, "has no meaning without client-key")
        }
        guard clientID != nil || clientSecret == nil && clientKey == nil && clientAuthentication != .tls else {
            throw .badSetting("client-id", "is needed, to say whose secret, key or certificate it is")
        }
        if let clientKey {
            clientSigner = try AssertionSigner(key: clientKey, clientKeyAlgorithm, keyID: clientKeyID, Self.clientKeyNames)
        }
        if clientAuthentication == .clientSecretJWT { _ = try secretSigner() }
    }

    /// Whether the client's proof is the platform's token.
    var assertsWorkload: Bool { clientAuthentication == .privateKeyJWT && clientKey == nil }

    /// Whether the client has no proof of its identity, or must not give one.
    var isPublicClient: Bool {
        switch clientAuthentication {
        case .none: true
        case .auto: clientSecret == nil && clientKey == nil
        case .basic, .post, .privateKeyJWT, .clientSecretJWT, .tls: false
        }
    }

    /// Adds the client's identifier and proof to a request to one of the server's endpoints.
    func identify(
        _ fields: inout FormFields, _ headers: inout [(name: String, value: String)], at endpoints: Endpoints, _ flow: AuthFlow
    ) async throws(SchemeError) {
        let client = try await identity(at: endpoints, flow)
        if let authorization = client.authorization { headers.append(("Authorization", authorization)) }
        for field in client.fields { fields.append(field.name, field.isSecret ? .secret(field.value) : .text(field.text)) }
    }

    private func identity(at endpoints: Endpoints, _ flow: AuthFlow) async throws(SchemeError) -> ClientIdentity {
        let method = clientMethod(at: endpoints)
        switch method {
        case .basic: if let clientID, let clientSecret { return .basic(clientID, clientSecret) }
        case .post: if let clientID, let clientSecret { return .form(clientID, clientSecret) }
        case .privateKeyJWT, .clientSecretJWT:
            if assertsWorkload { return .assertion(try await workload.token(flow).text, id: clientID) }
            guard let clientID, let signer = try method == .clientSecretJWT ? secretSigner() : clientSigner else {
                throw .internal("a client assertion without a key")
            }
            return .assertion(try clientAssertion(signer, clientID, at: endpoints, flow), id: clientID)
        case .auto, .tls, .none: break
        }
        guard let clientID else { return .unknown }
        return .identifier(clientID)
    }

    /// The method that is used, never ``ClientMethod/auto``.
    func clientMethod(at endpoints: Endpoints) -> ClientMethod {
        guard clientAuthentication == .auto else { return clientAuthentication }
        return .automatic(hasKey: clientKey != nil, hasSecret: clientSecret != nil, offered: endpoints.clientMethods)
    }

    private func secretSigner() throws(SchemeError) -> AssertionSigner {
        guard let clientSecret else { throw .internal("a client without a secret") }
        return try AssertionSigner(secret: clientSecret, clientKey == nil ? clientKeyAlgorithm : nil, Self.clientSecretNames)
    }
}

extension OAuth2Auth {
    /// The advice if the server doesn't accept the client (`invalid_client`, RFC 6749 §5.2), with the methods that it would accept.
    func clientAdvice(at endpoints: Endpoints) -> String {
        proofAdvice(at: endpoints) + Self.offer(of: endpoints)
    }

    private func proofAdvice(at endpoints: Endpoints) -> String {
        switch clientMethod(at: endpoints) {
        case .basic:
            "check client-id and client-secret, which were sent as HTTP Basic; some servers accept them only with client-auth=post"
        case .post:
            "check client-id and client-secret, which were sent in the form; some servers accept them only with client-auth=basic"
        case .clientSecretJWT:
            "check client-id and client-secret, and whether the server expects \(clientAudience(at: endpoints)) as the audience "
                + "(client-assertion-audience)"
        case .privateKeyJWT where assertsWorkload:
            "check client-id, and whether the server trusts the platform's tokens, their subject and their audience"
        case .privateKeyJWT:
            "check client-id, whether the server has the public part of client-key under the name of client-key-id, and whether "
                + "it expects \(clientAudience(at: endpoints)) as the audience (client-assertion-audience)"
        case .tls: "check client-id, and whether the connection has the client's certificate (--cert and --key)"
        case .auto, .none:
            clientID == nil
                ? "set client-id" : "check client-id, and set client-secret or client-key if the server gave the client one"
        }
    }

    /// The metadata's words in a safe form: only names of visible ASCII, and a limited number.
    private static func offer(of endpoints: Endpoints) -> String {
        let names = endpoints.clientMethods.filter { name in
            !name.isEmpty && name.utf8.count <= 40 && name.utf8.allSatisfy { $0.isVisible }
        }
        return names.isEmpty ? "" : "; the server's metadata names \(Array(names.prefix(8)).joined(separator: ", "))"
    }
}
