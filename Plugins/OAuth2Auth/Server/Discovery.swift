internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

extension OAuth2Auth {
    /// Refuses settings for the server if its metadata can't be found with them, or could be forged on the way.
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
                "issuer", "or token-url is needed, to know the authorization server; a single resource could name it too")
        }
        try Self.checkIdentifier(resources[0], of: "resource")
        // A malicious server could reuse a secret or an assertion elsewhere. In a person's login, the person sees which server it
        // is.
        guard grant.needsPerson, isPublicClient else {
            throw .badSetting(
                "issuer",
                "or token-url is needed: the API chooses the server that resource names, which would get a secret; only the login "
                    + "of a person by a client without a secret works without them")
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

    /// Checks the identifier that leads to a server's metadata (RFC 8414 §2, RFC 9728 §1.2).
    private static func checkIdentifier(_ text: String, of setting: String) throws(SchemeError) {
        guard let address = WebAddress(text) else {
            throw .badSetting(setting, "must be an https URL without a user, \(WebAddress.limit) bytes at most")
        }
        guard address.isAuthentic else { throw .badSetting(setting, "must begin with https://, except on this machine") }
        guard !address.hasFragment, !address.hasQuery else {
            throw .badSetting(setting, "must have neither a query nor a fragment (RFC 8414 §2)")
        }
    }

    /// The server's endpoints for a login. They come from the settings, or else from the issuer's metadata.
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
    /// Endpoints that were kept with the token save the request for the metadata, so that a renewal depends on only one endpoint.
    /// They are used if the issuer is still the same and has the same origin. The host sends to another origin only if it read the
    /// metadata itself during the same flow.
    ///
    /// - Parameter wanted: an endpoint in addition to the token endpoint. The server may lack it.
    /// - Throws: ``SchemeError/badToken(_:)`` if another issuer issued the token, because this issuer must not see it.
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

    /// Checks that the server in the settings issued a stored token, because no other server may see it (RFC 9700 §4.4).
    private static func checkIssuer(_ issuer: String, of token: StoredToken) throws(SchemeError) {
        guard let other = token.issuer, !other.utf8.elementsEqual(issuer.utf8) else { return }
        throw .badToken(
            "it is from the issuer \(ServerWords.quoted(other)), but the settings are for \(ServerWords.quoted(issuer))")
    }

    /// Whether the host sends to endpoints that were kept with a token, and whether no setting replaces them.
    private func isUsable(_ kept: Endpoints, of issuer: String) -> Bool {
        guard tokenURL == nil, revocationURL == nil, let own = WebAddress(issuer) else { return false }
        guard WebAddress(kept.token)?.isSameOrigin(as: own) == true else { return false }
        guard let revocation = kept.revocation else { return true }
        return WebAddress(revocation)?.isSameOrigin(as: own) == true
    }

    /// The server's endpoints. Fetches metadata if one of them has no setting.
    ///
    /// - Parameters:
    ///   - needed: the required endpoints; this throws if one is missing.
    ///   - wanted: other endpoints, which the server may lack.
    /// - Throws: an error that clears no token, because metadata says nothing about a token.
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
            // One document is enough unless it lacks something. Most servers publish two documents, and few publish everything in
            // both.
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

    /// The addresses of an issuer's metadata. The first is OpenID Connect's, which most servers have (OpenID Connect Discovery
    /// §4.1, RFC 8414 §3.1). The host allows sending only to endpoints in documents from these addresses.
    static func metadataURLs(of issuer: String) -> [String] {
        guard let address = WebAddress(issuer) else { return [] }
        let path = trimmed(address.path)
        return [
            "\(address.root)\(path)/.well-known/openid-configuration",
            "\(address.root)/.well-known/oauth-authorization-server\(path)",
        ]
    }

    /// A path without trailing slashes.
    static func trimmed(_ path: String) -> String {
        var bytes = Array(path.utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private enum Fetched {
        case found(ServerMetadata)
        case absent(String)
        case unavailable(String)
    }

    /// - Throws: if an issuer publishes another issuer's metadata (RFC 8414 §3.3), or if there is no response.
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
                // Servers in trouble, and servers with a page for every path, respond with 200 and a page.
                case .unreadable(let fault): return .unavailable(fault)
                case .otherIssuer(let named):
                    throw .badSetting(
                        "issuer",
                        "is \(ServerWords.quoted(issuer)), but its metadata at \(url) is for \(named); set the exact text")
                }
            }
        }
    }

    /// A JSON document, or the reason why there is none, as the end of a sentence.
    enum Document {
        case found(Secret)
        case absent(String)
        case unavailable(String)
    }

    /// Fetches a document. Doesn't follow redirects, because only the address itself shows that its owner published the document.
    func document(_ flow: AuthFlow, at url: String) async throws(SchemeError) -> Document {
        let response: FlowResponse
        do throws(SchemeError) {
            response = try await flow.send(.get(url, headers: [("Accept", "application/json")], followsRedirects: false))
        } catch {
            guard error.transportFailure == .tooLarge else { throw error }
            return .unavailable("is larger than 1 MiB")
        }
        switch response.status {
        case 200: return .found(response.body)
        case 300..<400: return .absent("redirects elsewhere (status \(response.status)), which isn't followed")
        case 408, 425, 429, 500...: return .unavailable("responds with status \(response.status)")
        default: return .absent("responds with status \(response.status)")
        }
    }
}

/// Collects endpoints from settings and documents until all needed ones are known.
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

    /// The addresses for people and for keys have no alias.
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
            return .badSetting(endpoint.setting, "is needed, or issuer, whose metadata names the endpoint")
        }
        let places = documents.map { $0.url }.joined(separator: " and ")
        return .badSetting(endpoint.setting, "is needed, since the server's metadata names no \(endpoint.rawValue): \(places)")
    }
}
