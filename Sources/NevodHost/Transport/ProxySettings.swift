/// The proxy for each request, by default from the environment variables that curl uses: `http_proxy` (lower case only, since a
/// CGI request can set the upper-case spelling), `https_proxy`, `all_proxy`, and `no_proxy` for hosts to connect to directly: names with
/// their subdomains, addresses, blocks of addresses (`10.0.0.0/8`), or `*`, between commas or white space.
public struct ProxySettings: Sendable, Hashable {
    /// Proxy URLs by the scheme of the origin. Credentials in a URL are sent to the proxy only.
    private let proxies: [Origin.Scheme: String]
    private let direct: ProxyBypass

    /// Connects to all hosts directly.
    public static let none = ProxySettings(proxies: [:], direct: ProxyBypass(""))

    /// Uses one proxy for all hosts.
    public init(url: String) {
        self.init(proxies: [.http: url, .https: url], direct: ProxyBypass(""))
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
        self.init(proxies: proxies, direct: ProxyBypass(direct))
    }

    private init(proxies: [Origin.Scheme: String], direct: ProxyBypass) {
        self.proxies = proxies
        self.direct = direct
    }

    /// Returns the same proxies with another list of hosts to connect to directly, in place of that of `no_proxy`.
    ///
    /// - Parameter hosts: as in `no_proxy`; an empty list sends every request through its proxy.
    public func bypassing(_ hosts: String) -> ProxySettings {
        ProxySettings(proxies: proxies, direct: ProxyBypass(hosts))
    }

    /// Returns the URL of the proxy for an origin; nil to connect directly.
    func proxy(for origin: Origin) -> String? {
        guard let proxy = proxies[origin.scheme], !direct.contains(origin.host) else { return nil }
        return proxy
    }
}
