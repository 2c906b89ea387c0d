internal import NevodPluginKit
internal import NevodSupport

extension OAuth2Auth {
    /// Refuses settings of the server by which its metadata can't be found, or could be forged on the way.
    func checkServer() throws(SchemeError) {
        if let issuer { try Self.checkIdentifier(issuer.text, of: "issuer") }
        for endpoint in ServerMetadata.Endpoint.allCases {
            guard let url = self[endpoint] else { continue }
            guard let address = WebAddress(url.text), address.isAuthentic else {
                throw .badSetting(endpoint.setting, "must begin with https://, except on this machine")
            }
        }
        for resource in resources where WebAddress(resource)?.hasFragment == true {
            throw .badSetting("resource", "must have no fragment (RFC 8707 §2)")
        }
        guard issuer == nil, tokenURL == nil, grant != .metadata else { return }
        let namesEndpoint = authorizationURL != nil || deviceURL != nil || pushedRequestURL != nil
        guard resources.count == 1, !namesEndpoint else {
            throw .badSetting(
                "issuer", "or token-url is needed, to know the authorization server; one resource alone could name it, too")
        }
        try Self.checkIdentifier(resources[0], of: "resource")
        // A server could use elsewhere what proves something by itself. A person sees at which server the login is.
        guard grant.needsPerson, isPublicClient else {
            throw .badSetting(
                "issuer",
                "or token-url is needed: the server that resource names is the API's choice, and would get a secret; only a login "
                    + "of a person by a client without one can do without")
        }
    }

    /// The setting for an endpoint.
    fileprivate subscript(endpoint: ServerMetadata.Endpoint) -> ServerURL? {
        switch endpoint {
        case .authorization: authorizationURL
        case .token: tokenURL
        case .device: deviceURL
        case .pushedRequests: pushedRequestURL
        case .revocation: revocationURL
        case .keys: keysURL
        }
    }

    /// Checks the identifier of a server by which its metadata is found (RFC 8414 §2, RFC 9728 §1.2).
    private static func checkIdentifier(_ text: String, of setting: String) throws(SchemeError) {
        guard let address = WebAddress(text) else {
            throw .badSetting(setting, "must be an https URL without a user, \(WebAddress.limit) bytes at most")
        }
        guard address.isAuthentic else { throw .badSetting(setting, "must begin with https://, except on this machine") }
        guard !address.hasFragment, !address.hasQuery else {
            throw .badSetting(setting, "must have neither a query nor a fragment (RFC 8414 §2)")
        }
    }

    /// The server's endpoints for a login: those of settings, and for the others those of the issuer's metadata.
    func endpoints(_ flow: AuthFlow) async throws(SchemeError) -> Endpoints {
        var needed: [ServerMetadata.Endpoint] = [.token]
        switch grant {
        case .code: needed.append(.authorization)
        case .device: needed.append(.device)
        case .clientCredentials, .password, .tokenExchange, .jwtBearer, .refreshToken, .metadata: break
        }
        return try await endpoints(flow, needing: needed, wanting: asksForIdentity(flow) ? [.keys] : [])
    }

    /// The endpoints for the renewal or the revocation of a token.
    ///
    /// Those that were kept with the token spare the request for the metadata, so that a renewal depends on one endpoint alone. They are
    /// used if the issuer is still the same, and if they are of its origin: to others the host sends only what it has itself
    /// read in the metadata during the same flow.
    ///
    /// - Parameter wanted: an endpoint beside that for tokens, which the server may lack.
    /// - Throws: ``SchemeError/badToken(_:)`` if another issuer has issued the token, which must not go to this one.
    func endpoints(
        _ flow: AuthFlow, of token: StoredToken, wanting wanted: ServerMetadata.Endpoint? = nil
    ) async throws(SchemeError) -> Endpoints {
        if let issuer = issuer?.text {
            try Self.checkIssuer(issuer, of: token)
            if let kept = token.endpoints, isUsable(kept, of: issuer), wanted != .revocation || kept.revocation != nil {
                return kept
            }
        }
        let endpoints = try await endpoints(flow, needing: [.token], wanting: wanted.map { [$0] } ?? [])
        if let issuer = endpoints.issuer { try Self.checkIssuer(issuer, of: token) }
        return endpoints
    }

    /// Checks that a stored token was issued by the server that the settings name: no other one may see it (RFC 9700 §4.4).
    private static func checkIssuer(_ issuer: String, of token: StoredToken) throws(SchemeError) {
        guard let other = token.issuer, !other.utf8.elementsEqual(issuer.utf8) else { return }
        throw .badToken("it is of the issuer \(ServerText.quoted(other)), and the settings are for \(ServerText.quoted(issuer))")
    }

    /// Whether the host sends to endpoints that were kept with a token, and no setting replaces them.
    private func isUsable(_ kept: Endpoints, of issuer: String) -> Bool {
        guard tokenURL == nil, revocationURL == nil, let own = WebAddress(issuer) else { return false }
        guard WebAddress(kept.token)?.isSameOrigin(as: own) == true else { return false }
        guard let revocation = kept.revocation else { return true }
        return WebAddress(revocation)?.isSameOrigin(as: own) == true
    }

    /// The server's endpoints, with metadata if one of them has no setting.
    ///
    /// - Parameters:
    ///   - needed: the endpoints without which this throws.
    ///   - wanted: others, which the server may lack.
    /// - Throws: an error that clears no token: the metadata say nothing about it.
    func endpoints(
        _ flow: AuthFlow, needing needed: [ServerMetadata.Endpoint], wanting wanted: [ServerMetadata.Endpoint] = []
    ) async throws(SchemeError) -> Endpoints {
        var found = FoundEndpoints(self)
        guard !found.has(needed) || !found.has(wanted), let issuer = try await namedIssuer(flow) else {
            return try found.endpoints(needed)
        }
        found.issuer = issuer
        var faults: [String] = []
        var isTransient = false
        for url in Self.metadataURLs(of: issuer) {
            switch try await metadata(flow, at: url, of: issuer) {
            case .found(let metadata): found.add(metadata, at: url)
            case .absent(let fault): faults.append("\(url) \(fault)")
            case .unavailable(let fault):
                faults.append("\(url) \(fault)")
                isTransient = true
            }
            // One document is enough, unless it lacks something: most servers publish both, and few publish all in each.
            if found.has(needed), found.has(wanted) { break }
        }
        if found.has(needed) { return try found.endpoints(needed) }
        if isTransient { throw .unavailable("the metadata of \(issuer) can't be read: \(faults.joined(separator: "; "))") }
        if found.documents.isEmpty {
            throw .badSetting(
                self.issuer == nil ? "resource" : "issuer",
                "has no metadata: \(faults.joined(separator: "; ")); correct it, or set token-url and the other endpoints")
        }
        return try found.endpoints(needed)
    }

    /// The addresses of an issuer's metadata. The first one is OpenID Connect's, which most servers have, also those that have both
    /// (OpenID Connect Discovery §4.1, RFC 8414 §3.1). The host allows sending to endpoints in documents of these addresses alone.
    static func metadataURLs(of issuer: String) -> [String] {
        guard let address = WebAddress(issuer) else { return [] }
        let path = trimmed(address.path)
        return [
            "\(address.root)\(path)/.well-known/openid-configuration",
            "\(address.root)/.well-known/oauth-authorization-server\(path)",
        ]
    }

    /// A path without the slashes at its end.
    static func trimmed(_ path: Substring) -> Substring {
        var bytes = path.utf8
        while bytes.last == UInt8(ascii: "/") { bytes = bytes.dropLast() }
        return Substring(bytes)
    }

    private enum Fetched {
        case found(ServerMetadata)
        case absent(String)
        case unavailable(String)
    }

    /// - Throws: for an issuer that publishes another's metadata (RFC 8414 §3.3), and if there is no response.
    private func metadata(_ flow: AuthFlow, at url: String, of issuer: String) async throws(SchemeError) -> Fetched {
        switch try await document(flow, at: url) {
        case .absent(let fault): return .absent(fault)
        case .unavailable(let fault): return .unavailable(fault)
        case .found(let body):
            do throws(ServerMetadata.Fault) {
                return .found(
                    try body.withUnsafeBytes { bytes throws(ServerMetadata.Fault) in
                        try ServerMetadata(Span(_unsafeBytes: bytes), of: issuer)
                    })
            } catch {
                switch error {
                // Servers in trouble, and those that have a page for every path, respond with 200 and a page.
                case .unreadable(let fault): return .unavailable(fault)
                case .otherIssuer(let named):
                    throw .badSetting(
                        "issuer",
                        "is \(ServerText.quoted(issuer)), but its metadata at \(url) are those of \(named); set the exact text")
                }
            }
        }
    }

    /// A document of JSON, or the reason why there is none, as the end of a sentence.
    enum Document {
        case found(Secret)
        case absent(String)
        case unavailable(String)
    }

    /// Fetches a document, and follows no redirect: only the address itself says that its owner published the document.
    func document(_ flow: AuthFlow, at url: String) async throws(SchemeError) -> Document {
        let response: FlowResponse
        do throws(SchemeError) {
            response = try await flow.send(.get(url, headers: [("Accept", "application/json")], followsRedirects: false))
        } catch {
            guard error.transportFailure == .tooLarge else { throw error }
            return .unavailable("has more than 1 MiB")
        }
        switch response.status {
        case 200: return .found(response.body)
        case 300..<400: return .absent("redirects elsewhere (status \(response.status)), which isn't followed")
        case 408, 425, 429, 500...: return .unavailable("responds with status \(response.status)")
        default: return .absent("responds with status \(response.status)")
        }
    }
}

/// The endpoints that settings and documents name, until all that are needed are known.
private struct FoundEndpoints {
    var issuer: String?
    private(set) var documents: [(url: String, metadata: ServerMetadata)] = []
    private let settings: [(endpoint: ServerMetadata.Endpoint, url: String)]
    private let showsCertificate: Bool

    init(_ scheme: OAuth2Auth) {
        issuer = scheme.issuer?.text
        showsCertificate = scheme.clientAuthentication == .tls
        var settings: [(endpoint: ServerMetadata.Endpoint, url: String)] = []
        for endpoint in ServerMetadata.Endpoint.allCases {
            if let url = scheme[endpoint] { settings.append((endpoint, url.text)) }
        }
        self.settings = settings
    }

    mutating func add(_ metadata: ServerMetadata, at url: String) { documents.append((url, metadata)) }

    func has(_ needed: [ServerMetadata.Endpoint]) -> Bool { needed.allSatisfy { self[$0] != nil } }

    /// Settings win, then the first document.
    subscript(endpoint: ServerMetadata.Endpoint) -> String? {
        if let setting = settings.first(where: { $0.endpoint == endpoint }) { return setting.url }
        for document in documents {
            if case .valid(let url) = address(of: endpoint, in: document.metadata) { return url }
        }
        return nil
    }

    /// Where people and keys are is said once.
    private func address(of endpoint: ServerMetadata.Endpoint, in metadata: ServerMetadata) -> ServerMetadata.Address {
        metadata[endpoint, alias: showsCertificate && endpoint != .authorization && endpoint != .keys]
    }

    func endpoints(_ needed: [ServerMetadata.Endpoint]) throws(SchemeError) -> Endpoints {
        for endpoint in needed where self[endpoint] == nil { throw fault(of: endpoint) }
        guard let token = self[.token] else { throw fault(of: .token) }
        var endpoints = Endpoints(
            issuer: issuer, authorization: self[.authorization], token: token, device: self[.device],
            pushedRequests: self[.pushedRequests], revocation: self[.revocation], keys: self[.keys])
        endpoints.source = documents.isEmpty ? .settings : .metadata
        endpoints.clientMethods = words("token_endpoint_auth_methods_supported")
        endpoints.assertionAlgorithms = words("token_endpoint_auth_signing_alg_values_supported")
        endpoints.challengeMethods = words("code_challenge_methods_supported")
        endpoints.proofAlgorithms = words("dpop_signing_alg_values_supported")
        for document in documents {
            if document.metadata.isTrue("authorization_response_iss_parameter_supported") { endpoints.namesIssuer = true }
            if document.metadata.isTrue("require_pushed_authorization_requests") { endpoints.requiresPushedRequests = true }
        }
        return endpoints
    }

    private func words(_ name: String) -> [String] {
        for document in documents {
            let words = document.metadata.words(name)
            if !words.isEmpty { return words }
        }
        return []
    }

    private func fault(of endpoint: ServerMetadata.Endpoint) -> SchemeError {
        for document in documents {
            if case .invalid(let fault) = address(of: endpoint, in: document.metadata) {
                return .badSetting(endpoint.setting, "is needed, since \(endpoint.rawValue) in \(document.url) \(fault)")
            }
        }
        guard !documents.isEmpty else {
            return .badSetting(endpoint.setting, "is needed, or issuer, whose metadata name the endpoint")
        }
        let places = documents.map { $0.url }.joined(separator: " and ")
        return .badSetting(endpoint.setting, "is needed, since the server's metadata name no \(endpoint.rawValue): \(places)")
    }
}
