internal import NevodPluginABI
internal import NevodSupport

/// The origins that a flow may send to: those of the settings that are URLs, those in the metadata of an issuer that a setting
/// names, and for a challenge flow the one that the challenge came from.
struct FlowOrigins: Sendable {
    private(set) var allowed: [Origin] = []
    /// The allowed origins that settings name.
    let named: [Origin]
    /// The origin of the challenge that the flow answers. The flow may send there, and open no address there.
    var challenge: Origin?
    private let issuers: [SchemeSettings.Value]

    init(_ values: [(name: String, value: SchemeSettings.Value)], of scheme: Scheme) {
        var issuers: [SchemeSettings.Value] = []
        for (name, value) in values {
            guard let setting = scheme.settings.first(where: { $0.name == name }), setting.kind == .url,
                let url = try? HTTPURL(Self.origin(of: value))
            else { continue }
            if !allowed.contains(url.origin) { allowed.append(url.origin) }
            if setting.namesIssuer { issuers.append(value) }
        }
        self.issuers = issuers
        named = allowed
    }

    func allow(_ origin: Origin) -> Bool { allowed.contains(origin) }

    func allowsSending(to origin: Origin) -> Bool { allow(origin) || origin == challenge }

    /// Returns a URL without its path and query, which are secret in a secret setting.
    private static func origin(of value: SchemeSettings.Value) -> String {
        switch value {
        case .text(let text): return text
        case .secret(let secret):
            return secret.withUnsafeBytes { bytes in
                let slash = UInt8(ascii: "/")
                guard let first = bytes.firstIndex(of: slash), first + 2 <= bytes.count else { return "" }
                let end = bytes[(first + 2)...].firstIndex { $0 == slash || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
                return String(decoding: bytes[..<(end ?? bytes.count)], as: UTF8.self)
            }
        }
    }

    /// Allows the origins of an issuer's endpoints, if the response is the issuer's metadata document and names this issuer
    /// (RFC 8414 §3.3, OpenID Connect Discovery §4.3).
    mutating func learn(from response: FlowResponse) {
        guard response.status == 200,
            let issuer = issuers.lazy.map(\.revealed).first(where: { Self.metadata(of: $0).contains(response.url) }),
            let issuerURL = try? HTTPURL(issuer)
        else { return }
        let metadata = try? JSONValue(response: response.body)
        guard let metadata, case .object(let members) = metadata, metadata["issuer"]?.string == issuer else { return }
        // Endpoints for clients with a certificate (RFC 8705 §5) are as much the issuer's as the others.
        var aliases: [JSONValue.Member] = []
        if case .object(let members) = metadata["mtls_endpoint_aliases"] { aliases = members }
        for member in members + aliases where member.name.hasSuffix("_endpoint") || member.name == "jwks_uri" {
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

extension SchemeSettings.Value {
    /// The value as text; a copy of a secret, which is not wiped.
    fileprivate var revealed: String {
        switch self {
        case .text(let text): text
        case .secret(let secret): secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }
}
