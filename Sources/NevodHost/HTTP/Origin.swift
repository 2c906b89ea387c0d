/// Scheme, host and port (RFC 6454 §4): the border that no credential crosses unasked.
public struct Origin: Hashable, Sendable {
    /// `rawValue` is the scheme as a URL spells it. No other is served.
    public enum Scheme: String, Sendable {
        /// In clear, and over TLS.
        case http, https

        /// 80 and 443 (RFC 9110 §4.2).
        public var defaultPort: UInt16 {
            switch self {
            case .http: 80
            case .https: 443
            }
        }
    }

    /// A page on `http` is another origin than the same on `https`.
    public let scheme: Scheme
    /// Lower-case; an IPv6 address without its brackets; an international name in its ASCII form (`xn--…`).
    public let host: String
    /// The scheme's default where the URL named none.
    public let port: UInt16
    /// As in the Host header: brackets where due, no default port.
    public let authority: String

    init(scheme: Scheme, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
        let bracketed = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        authority = port == scheme.defaultPort ? bracketed : "\(bracketed):\(port)"
    }
}

extension Origin: CustomStringConvertible {
    public var description: String { "\(scheme.rawValue)://\(authority)" }
}
