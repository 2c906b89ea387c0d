internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// The metadata of an API. It names the authorization servers that issue its tokens (RFC 9728 §2).
struct ProtectedResource: Sendable {
    /// The API's identifier, an https URL.
    let identifier: String
    /// The issuers; empty if the document doesn't say.
    let issuers: [String]
    let scopes: [String]

    /// Reads a document.
    ///
    /// - Parameter body: JSON, at most 1 MiB.
    init(_ body: Span<UInt8>) throws(ServerMetadata.Fault) {
        let json = try ServerMetadata.object(body)
        guard let identifier = json["resource"]?.string else { throw .unreadable("names no resource") }
        self.identifier = identifier
        issuers = Self.texts(json["authorization_servers"])
        scopes = Self.texts(json["scopes_supported"])
    }

    private static func texts(_ json: JSONValue?) -> [String] {
        guard case .array(let values)? = json else { return [] }
        return values.compactMap { $0.string }
    }

    /// The address of a resource's document (RFC 9728 §3.1); nil if the identifier isn't a URL.
    static func metadataURL(of identifier: String) -> String? {
        guard let address = WebAddress(identifier) else { return nil }
        return "\(address.root)/.well-known/oauth-protected-resource\(OAuth2Auth.trimmed(address.path))"
    }

    /// A few texts of a document, for an error.
    static func list(_ texts: [String]) -> String {
        let shown = texts.prefix(5).map { ServerWords.quoted($0) }.joined(separator: ", ")
        return texts.count > 5 ? "\(shown) and \(texts.count - 5) others" : shown
    }
}

extension OAuth2Auth {
    /// The issuer: the setting, or else the only authorization server that the resource names; nil if there is neither.
    ///
    /// The resource may name any server, even its own. So the settings allow this only for a person's login by a client without a
    /// secret (``checkServer()``), because such a login sends nothing that another server would accept. A later flow compares the
    /// issuer with the token's issuer, whatever the resource says then.
    func namedIssuer(_ flow: AuthFlow) async throws(SchemeError) -> String? {
        if let issuer { return issuer.text }
        guard tokenURL == nil, let resource = resources.first, resources.count == 1, let address = WebAddress(resource),
            let url = ProtectedResource.metadataURL(of: resource)
        else { return nil }
        let metadata: ProtectedResource
        switch try await document(flow, at: url) {
        case .absent(let fault):
            throw .badSetting(
                "issuer", "is needed, since \(url), where the resource could name its authorization server, \(fault)")
        case .unavailable(let fault): throw .unavailable("the metadata of the resource can't be read: \(url) \(fault)")
        case .found(let body):
            do throws(ServerMetadata.Fault) {
                metadata = try body.withUnsafeBytes { bytes throws(ServerMetadata.Fault) in
                    try ProtectedResource(Span(_unsafeBytes: bytes))
                }
            } catch {
                guard case .unreadable(let fault) = error else { return nil }
                throw .unavailable("the metadata of the resource can't be read: \(url) \(fault)")
            }
        }
        guard metadata.identifier.utf8.elementsEqual(resource.utf8) else {
            throw .badSetting(
                "resource",
                "is \(ServerWords.quoted(resource)), but its metadata at \(url) is for \(ServerWords.quoted(metadata.identifier))"
            )
        }
        guard let issuer = metadata.issuers.first, metadata.issuers.count == 1 else {
            throw .badSetting(
                "issuer",
                metadata.issuers.isEmpty
                    ? "is needed, since \(url) names no authorization server"
                    : "is needed: set one of the issuers that \(url) names, \(ProtectedResource.list(metadata.issuers))")
        }
        guard let server = WebAddress(issuer), server.mayBeNamed(by: address), !server.hasQuery, !server.hasFragment else {
            throw .badSetting(
                "issuer", "is needed, since the issuer that \(url) names is not an https URL: \(ServerWords.quoted(issuer))")
        }
        return issuer
    }

    /// Explains why an API refuses a valid token, if its metadata says that other servers issue its tokens (RFC 9728 §5.1).
    ///
    /// Metadata that can't be read, or that isn't for the request's URL, is only logged.
    ///
    /// - Throws: an error that clears no token, if the settings' issuer isn't one of the API's.
    func checkIssuers(_ flow: AuthFlow, at url: String, named response: FlowResponse) async throws(SchemeError) {
        guard let own = issuer?.text, let request = WebAddress(response.url) else { return }
        guard let address = WebAddress(url), address.isSameOrigin(as: request) else {
            return log(.warning, "resource_metadata \(ServerWords.quoted(url)) is not of the API's origin, and is ignored")
        }
        let document: Document
        do throws(SchemeError) { document = try await self.document(flow, at: url) } catch {
            guard error.isTransport else { throw error }
            return log(.info, "\(ServerWords.quoted(url)) can't be read")
        }
        let metadata: ProtectedResource
        switch document {
        case .absent(let fault), .unavailable(let fault): return log(.info, "\(ServerWords.quoted(url)) \(fault)")
        case .found(let body):
            do throws(ServerMetadata.Fault) {
                metadata = try body.withUnsafeBytes { bytes throws(ServerMetadata.Fault) in
                    try ProtectedResource(Span(_unsafeBytes: bytes))
                }
            } catch {
                return log(.warning, "\(ServerWords.quoted(url)) is not the metadata of a resource")
            }
        }
        // Another resource's metadata must not be used (§3.3). Metadata for a whole API is valid for its parts.
        guard WebAddress(metadata.identifier)?.contains(request) == true else {
            return log(
                .warning,
                "\(ServerWords.quoted(url)) is for the resource \(ServerWords.quoted(metadata.identifier)), which doesn't include the request's URL"
            )
        }
        if !metadata.scopes.isEmpty { log(.info, "the API knows the scopes \(ProtectedResource.list(metadata.scopes))") }
        guard !metadata.issuers.isEmpty, !metadata.issuers.contains(where: { $0.utf8.elementsEqual(own.utf8) }) else { return }
        let scopes = metadata.scopes.isEmpty ? "" : "; its scopes are \(ProtectedResource.list(metadata.scopes))"
        throw .badSetting(
            "issuer",
            "is \(ServerWords.quoted(own)), but the API \(ServerWords.quoted(metadata.identifier)) accepts only tokens of "
                + "\(ProtectedResource.list(metadata.issuers))\(scopes)")
    }
}
