internal import NevodPluginKit
internal import NevodSupport

/// How a client proves who it is at the server's endpoints (RFC 6749 §2.3, OpenID Connect Core §9, RFC 8705).
enum ClientMethod: String, CaseIterable, SettingValue {
    /// The method that the metadata and the settings allow: a key before a secret, Basic before the form.
    case auto
    /// HTTP Basic with identifier and secret, each encoded as a form's field (RFC 6749 §2.3.1). Some servers don't decode them: a
    /// secret with other characters than letters, digits and `-_.*` is wrong there, and right with ``post``.
    case basic
    /// Identifier and secret in the form.
    case post
    /// A token signed with the client's private key (RFC 7523 §2.2), or one that the platform has issued to this workload.
    case privateKeyJWT = "private-key-jwt"
    /// A token signed with the secret (OpenID Connect Core §9, client_secret_jwt).
    case clientSecretJWT = "client-secret-jwt"
    /// The certificate of the host's connection (RFC 8705 §2), and the identifier in the form.
    case tls
    /// The identifier in the form, and no proof: a public client.
    case none

    /// The method for what the client has and the server takes.
    ///
    /// - Parameter offered: `token_endpoint_auth_methods_supported`; empty if unknown.
    static func automatic(hasKey: Bool, hasSecret: Bool, offered: [String]) -> ClientMethod {
        if hasKey, !hasSecret || offered.isEmpty || offered.contains("private_key_jwt") { return .privateKeyJWT }
        guard hasSecret else { return .none }
        // Every server with secrets has to take it (RFC 6749 §2.3.1).
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

    /// Whether there is no proof that the client could give, or it is not to give any.
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
        let method = clientMethod(at: endpoints)
        if method == .basic, let clientID, let clientSecret {
            return headers.append(("Authorization", Self.basic(clientID, clientSecret)))
        }
        if let clientID { fields.append("client_id", .text(clientID)) }
        switch method {
        case .post:
            if let clientSecret { fields.append("client_secret", .secret(clientSecret)) }
        case .privateKeyJWT, .clientSecretJWT:
            let assertion: Secret
            if assertsWorkload {
                assertion = try await workload.token(flow).text
            } else if let clientID, let signer = try method == .clientSecretJWT ? secretSigner() : clientSigner {
                assertion = try clientAssertion(signer, clientID, at: endpoints, flow)
            } else {
                throw .internal("a client assertion without a key")
            }
            fields.append("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            fields.append("client_assertion", .secret(assertion))
        case .auto, .basic, .tls, .none: break
        }
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
