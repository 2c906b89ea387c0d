internal import NevodPluginABI
internal import NevodSupport

/// Where a flow may send: the origins of the settings that are URLs, and those that the metadata of an issuer names which a
/// setting names.
struct FlowOrigins: Sendable {
    private(set) var allowed: [Origin] = []
    /// Of them, those that settings name.
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

    /// Takes in the origins of an issuer's endpoints, if this is the answer to a request for its metadata, and says that it is
    /// this issuer's (RFC 8414 §3.3, OpenID Connect Discovery §4.3).
    mutating func learn(from answer: FlowResponse) {
        guard answer.status == 200, let issuer = issuers.first(where: { Self.metadata(of: $0).contains(answer.url) }),
            let issuerURL = try? HTTPURL(issuer)
        else { return }
        // Two members of one name could mean one server to the flow and another to the host.
        let metadata = try? JSONValue(parsing: answer.body.span, repeatedNames: .refused)
        guard let metadata, case .object(let members) = metadata, metadata["issuer"]?.string == issuer else { return }
        for member in members where member.name.hasSuffix("_endpoint") || member.name == "jwks_uri" {
            guard let value = member.value.string, let origin = try? HTTPURL(value).origin, !allow(origin) else { continue }
            // What was asked for over TLS is not answered with an address without it.
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
