#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The proxy for each request, by default from the environment variables that curl uses: `http_proxy` (lower case only, since a
/// CGI request can set the upper-case spelling), `https_proxy`, `all_proxy`, and `no_proxy` for hosts to connect to directly.
public struct ProxySettings: Sendable, Hashable {
    /// Proxy URLs by the scheme of the origin. Credentials in a URL are sent to the proxy only.
    private let proxies: [Origin.Scheme: String]
    private let direct: [String]

    /// Connects to all hosts directly.
    public static let none = ProxySettings(proxies: [:], direct: [])

    /// Uses one proxy for all hosts.
    public init(url: String) {
        self.init(proxies: [.http: url, .https: url], direct: [])
    }

    /// Reads the settings from the process's environment.
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

    /// Returns the URL of the proxy for an origin; nil to connect directly.
    func proxy(for origin: Origin) -> String? {
        guard let proxy = proxies[origin.scheme], !direct.contains(where: { Self.matches($0, origin.host) }) else { return nil }
        return proxy
    }

    /// Whether an entry of `no_proxy` matches: `*`, an address, or a name, with or without a leading dot, and its subdomains.
    private static func matches(_ entry: String, _ host: String) -> Bool {
        if entry == "*" { return true }
        let name = entry.hasPrefix(".") ? String(entry.dropFirst()) : entry
        if host == name || "[\(host)]" == name { return true }
        // A suffix of an address is not a domain.
        let isAddress = host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) }
        return !isAddress && host.hasSuffix(".\(name)")
    }
}
