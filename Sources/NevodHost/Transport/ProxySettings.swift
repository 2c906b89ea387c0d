internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The proxy for each request, by default from the environment variables that curl uses: `http_proxy` (lower case only, since a
/// CGI request can set the upper-case spelling), `https_proxy`, `all_proxy` and `no_proxy`.
///
/// `no_proxy` lists hosts to connect to directly, separated by commas or white space: names with their subdomains, addresses,
/// blocks of addresses (`10.0.0.0/8`), or `*` for all hosts.
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

    /// Returns the same proxies with another list of hosts to connect to directly, which replaces `no_proxy`.
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

/// The hosts in `no_proxy`. Requests to them go directly.
struct ProxyBypass: Sendable, Hashable {
    private enum Entry: Sendable, Hashable {
        /// A name and its subdomains, in lower case, without leading and trailing dots.
        case name(String)
        /// The addresses that begin with the first `bits` of `address`.
        case network(HostAddress, bits: Int)
    }

    private let entries: [Entry]
    private let isForAll: Bool

    /// - Parameter text: entries separated by commas, spaces, tabs or line breaks: `*` for all hosts, an address, a block of
    ///   addresses (`10.0.0.0/8`, `fd00::/8`), or a name, with or without dots at its ends. Any other entry matches no host.
    init(_ text: String) {
        // Split by byte, since CR LF is a single Character.
        let words = text.utf8.split { $0 == UInt8(ascii: ",") || $0.isCWhitespace }.map { String(Substring($0)) }
        isForAll = words.contains("*")
        entries = words.compactMap(Self.entry)
    }

    private static func entry(_ word: String) -> Entry? {
        if let slash = word.utf8.firstIndex(of: UInt8(ascii: "/")) {
            let digits = word[word.utf8.index(after: slash)...]
            // A short form such as 10/8 could mean either of two blocks.
            guard let address = HostAddress(word[..<slash], isShortAllowed: false),
                let bits = Int(digits: digits.utf8), bits <= address.bytes.count * 8
            else { return nil }
            return .network(address, bits: bits)
        }
        if let address = HostAddress(word[...]) { return .network(address, bits: address.bytes.count * 8) }
        let name = trimmed(word)
        guard !name.isEmpty else { return nil }
        return .name(name.utf8.allSatisfy { $0 < 0x80 } ? name.lowercased() : IDN.ascii(String(name)) ?? name.lowercased())
    }

    /// - Parameter host: as ``Origin/host``.
    func contains(_ host: String) -> Bool {
        if isForAll { return true }
        if entries.isEmpty { return false }
        let name = Self.trimmed(host)
        let address = HostAddress(name)
        return entries.contains { entry in
            switch entry {
            case .network(let network, let bits): address?.isEqual(to: network, bits: bits) ?? false
            // A suffix of an address is not a domain.
            case .name(let domain): address == nil && (name == domain || name.hasSuffix(".\(domain)"))
            }
        }
    }

    /// Removes the dots at the ends: `.example.com` and `example.com.` are the domain `example.com`.
    private static func trimmed(_ name: String) -> Substring {
        var name = name[...]
        while name.utf8.first == UInt8(ascii: ".") { name = name.dropFirst() }
        while name.utf8.last == UInt8(ascii: ".") { name = name.dropLast() }
        return name
    }
}

/// An IP address as its bytes. An IPv4 address within IPv6 (`::ffff:127.0.0.1`, RFC 4291 §2.5.5.2) is the IPv4 address.
private struct HostAddress: Sendable, Hashable {
    let bytes: [UInt8]

    /// - Parameters:
    ///   - text: IPv6 with or without brackets, or IPv4.
    ///   - isShortAllowed: whether IPv4 may have any form that a name lookup takes for an address, such as `127.1` or
    ///     `0x7f000001`.
    init?(_ text: Substring, isShortAllowed: Bool = true) {
        let isBracketed = text.utf8.first == UInt8(ascii: "[") && text.utf8.last == UInt8(ascii: "]")
        let text = String(isBracketed ? text.dropFirst().dropLast() : text)
        guard !text.utf8.contains(0), !text.utf8.contains(0x20) else { return nil }
        if text.utf8.contains(UInt8(ascii: ":")) {
            var address = in6_addr()
            guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
            let bytes = withUnsafeBytes(of: address) { Array($0) }
            let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            self.bytes = isMapped ? Array(bytes[12...]) : bytes
        } else {
            var address = in_addr()
            guard !isBracketed, isShortAllowed ? inet_aton(text, &address) != 0 : inet_pton(AF_INET, text, &address) == 1 else {
                return nil
            }
            bytes = withUnsafeBytes(of: address) { Array($0) }
        }
    }

    /// Whether the first bits are the same.
    func isEqual(to other: HostAddress, bits: Int) -> Bool {
        guard bytes.count == other.bytes.count else { return false }
        let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
        guard bytes.prefix(whole) == other.bytes.prefix(whole) else { return false }
        return rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> (8 - UInt8(rest)) == 0
    }
}
