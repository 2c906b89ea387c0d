#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Which proxy a request goes through, by the variables that curl and most programs know: `http_proxy` (lower case alone: the
/// other spelling can be set by a CGI request), `https_proxy`, `all_proxy`, and `no_proxy` for what goes directly.
public struct ProxySettings: Sendable, Hashable {
    /// A proxy's URL by the scheme of the origin; credentials in it go to the proxy and nowhere else.
    private let proxies: [Origin.Scheme: String]
    private let direct: [String]

    /// No proxy for anything.
    public static let none = ProxySettings(proxies: [:], direct: [])

    /// One proxy for everything.
    public init(url: String) {
        self.init(proxies: [.http: url, .https: url], direct: [])
    }

    /// What the process's environment says.
    public init() {
        self.init(environment: environment)
    }

    init(environment variable: (String) -> String?) {
        func first(_ names: [String]) -> String? { names.compactMap { variable($0) }.first { !$0.isEmpty } }
        var proxies: [Origin.Scheme: String] = [:]
        proxies[.http] = first(["http_proxy", "all_proxy", "ALL_PROXY"])
        proxies[.https] = first(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        let direct = first(["no_proxy", "NO_PROXY"]) ?? ""
        self.init(proxies: proxies, direct: direct.split { $0 == "," || $0 == " " }.map { $0.lowercased() })
    }

    private init(proxies: [Origin.Scheme: String], direct: [String]) {
        self.proxies = proxies
        self.direct = direct
    }

    /// The URL of the proxy for an origin; nil to go there directly.
    func proxy(for origin: Origin) -> String? {
        guard let proxy = proxies[origin.scheme], !direct.contains(where: { Self.matches($0, origin.host) }) else { return nil }
        return proxy
    }

    /// `*`, a name with or without a leading dot (its subdomains too), or an address.
    private static func matches(_ entry: String, _ host: String) -> Bool {
        if entry == "*" { return true }
        let name = entry.hasPrefix(".") ? String(entry.dropFirst()) : entry
        if host == name || "[\(host)]" == name { return true }
        // The end of an address is no domain.
        let isAddress = host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) }
        return !isAddress && host.hasSuffix(".\(name)")
    }
}
