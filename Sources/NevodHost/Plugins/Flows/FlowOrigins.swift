internal import NevodPluginABI
internal import NevodSupport

/// The origins that a flow may send to: those of the settings that are URLs, and those in the metadata of an issuer that a
/// setting names.
struct FlowOrigins: Sendable {
    private(set) var allowed: [Origin] = []
    /// The allowed origins that settings name.
    let named: [Origin]
    private let issuers: [String]

    init(_ values: [(name: String, value: SchemeSettings.Value)], of scheme: Scheme) {
        var issuers: [String] = []
        for (name, value) in values {
            guard let setting = scheme.settings.first(where: { $0.name == name }), setting.kind == .url,
                case .text(let text) = value, let url = try? HTTPURL(text)
            else { continue }
            if !allowed.contains(url.origin) { allowed.append(url.origin) }
            if setting.namesIssuer { issuers.append(text) }
        }
        self.issuers = issuers
        named = allowed
    }

    func allow(_ origin: Origin) -> Bool { allowed.contains(origin) }

    /// Allows the origins of an issuer's endpoints, if the response is the issuer's metadata document and names this issuer
    /// (RFC 8414 §3.3, OpenID Connect Discovery §4.3).
    mutating func learn(from response: FlowResponse) {
        guard response.status == 200, let issuer = issuers.first(where: { Self.metadata(of: $0).contains(response.url) }),
            let issuerURL = try? HTTPURL(issuer)
        else { return }
        let metadata = try? JSONValue(response: response.body)
        guard let metadata, case .object(let members) = metadata, metadata["issuer"]?.string == issuer else { return }
        for member in members where member.name.hasSuffix("_endpoint") || member.name == "jwks_uri" {
            guard let value = member.value.string, let origin = try? HTTPURL(value).origin, !allow(origin) else { continue }
            // An issuer that is reached over TLS can't allow an origin without TLS.
            if issuerURL.origin.scheme == .http || origin.scheme == .https { allowed.append(origin) }
        }
    }

    private static func metadata(of issuer: String) -> [String] {
        guard let url = try? HTTPURL(issuer) else { return [] }
        var path = url.target
        while path.hasSuffix("/") { path.removeLast() }
        return [
            "\(url.origin)\(path)/.well-known/openid-configuration",
            "\(url.origin)/.well-known/oauth-authorization-server\(path)",
        ]
    }
}
