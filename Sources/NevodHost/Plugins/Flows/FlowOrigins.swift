internal import NevodPluginABI
internal import NevodSupport

/// The origins that a flow may send to:
/// - the origins of URLs in settings;
/// - the origins of the endpoints in an issuer's metadata. The issuer is a setting, or is named in the metadata of a protected
///   resource whose URL is a setting;
/// - in a challenge flow, the origin that the challenge came from.
struct FlowOrigins: Sendable {
    private(set) var allowed: [Origin] = []
    /// The allowed origins that settings name.
    let named: [Origin]
    /// The origin of the challenge, in a challenge flow. The flow may send requests there, but not have an address there opened
    /// in a browser.
    var challenge: Origin?
    private let issuers: [SchemeSettings.Value]
    /// The settings that are URLs of resources, not of issuers. Secret URLs are left out, because an address made from one would
    /// reveal it.
    private let resources: [String]
    /// The issuers that a resource has named.
    private var namedIssuers: [String] = []

    init(_ values: [(name: String, value: SchemeSettings.Value)], of scheme: Scheme) {
        var issuers: [SchemeSettings.Value] = []
        var resources: [String] = []
        for (name, value) in values {
            guard let setting = scheme.settings.first(where: { $0.name == name }), setting.kind == .url,
                let url = try? HTTPURL(Self.origin(of: value))
            else { continue }
            if !allowed.contains(url.origin) { allowed.append(url.origin) }
            if setting.namesIssuer {
                issuers.append(value)
            } else if case .text(let text) = value {
                resources.append(text)
            }
        }
        self.issuers = issuers
        self.resources = resources
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

    /// Allows the origins that a response adds: the endpoints in an issuer's metadata, or the issuers in a resource's.
    mutating func learn(from response: FlowResponse) {
        guard response.status == 200 else { return }
        learnEndpoints(from: response)
        learnIssuers(from: response)
    }

    /// Allows the origins of an issuer's endpoints, if the response is the issuer's metadata document and names this issuer
    /// (RFC 8414 §3.3, OpenID Connect Discovery §4.3).
    private mutating func learnEndpoints(from response: FlowResponse) {
        let known = issuers.map(\.text) + namedIssuers
        guard let issuer = known.first(where: { Self.metadata(of: $0).contains { $0.isSame(as: response.url) } }),
            let issuerURL = try? HTTPURL(issuer), let metadata = try? JSONValue(response: response.body),
            metadata["issuer"]?.string?.isSame(as: issuer) == true
        else { return }
        learnEndpoints(in: metadata, of: issuerURL)
        // RFC 8705 §5.
        if let aliases = metadata["mtls_endpoint_aliases"] { learnEndpoints(in: aliases, of: issuerURL) }
    }

    private mutating func learnEndpoints(in metadata: JSONValue, of issuer: HTTPURL) {
        guard case .object(let members) = metadata else { return }
        for member in members {
            let isAddress = member.name.utf8.suffix(9).elementsEqual("_endpoint".utf8) || member.name.isSame(as: "jwks_uri")
            if isAddress, let url = member.value.string { learn(url, namedBy: issuer) }
        }
    }

    /// How many of a resource's authorization servers are taken into account.
    private static let mostIssuers = 16

    /// Allows the origins of the issuers in a resource's metadata, if a setting is the resource's identifier (RFC 9728 §3.3).
    ///
    /// So a resource can direct a flow to any server. A scheme must not send that server a secret that another server would
    /// accept.
    private mutating func learnIssuers(from response: FlowResponse) {
        guard let resource = resources.first(where: { Self.resourceMetadata(of: $0)?.isSame(as: response.url) == true }),
            let resourceURL = try? HTTPURL(resource), let metadata = try? JSONValue(response: response.body),
            metadata["resource"]?.string?.isSame(as: resource) == true,
            case .array(let servers)? = metadata["authorization_servers"]
        else { return }
        for issuer in servers.prefix(Self.mostIssuers).compactMap(\.string)
        where !namedIssuers.contains(where: { $0.isSame(as: issuer) }) && learn(issuer, namedBy: resourceURL) {
            namedIssuers.append(issuer)
        }
    }

    /// Allows the origin of a URL in a document.
    ///
    /// - Returns: false if the URL is invalid, or has no TLS although the document came over TLS.
    @discardableResult
    private mutating func learn(_ url: String, namedBy owner: HTTPURL) -> Bool {
        guard let origin = try? HTTPURL(url).origin, owner.origin.scheme == .http || origin.scheme == .https else { return false }
        if !allow(origin) { allowed.append(origin) }
        return true
    }

    private static func metadata(of issuer: String) -> [String] {
        guard let url = try? HTTPURL(issuer) else { return [] }
        let path = path(of: url)
        return [
            "\(url.origin)\(path)/.well-known/openid-configuration",
            "\(url.origin)/.well-known/oauth-authorization-server\(path)",
        ]
    }

    /// RFC 9728 §3.1.
    private static func resourceMetadata(of resource: String) -> String? {
        guard let url = try? HTTPURL(resource) else { return nil }
        return "\(url.origin)/.well-known/oauth-protected-resource\(path(of: url))"
    }

    private static func path(of url: HTTPURL) -> String {
        var path = Substring(url.target)
        while path.utf8.last == UInt8(ascii: "/") { path = path.dropLast() }
        return String(path)
    }
}

extension String {
    /// Compares byte by byte: two spellings of one accented letter are two identifiers.
    fileprivate func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
