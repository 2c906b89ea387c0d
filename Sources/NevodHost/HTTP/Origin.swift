/// Scheme, host and port (RFC 6454 §4). Credentials are bound to an origin.
public struct Origin: Hashable, Sendable {
    /// A supported scheme; `rawValue` is its spelling in a URL.
    public enum Scheme: String, Sendable {
        /// Unencrypted HTTP, and HTTP over TLS.
        case http, https

        /// 80 and 443 (RFC 9110 §4.2).
        var defaultPort: UInt16 {
            switch self {
            case .http: 80
            case .https: 443
            }
        }
    }

    /// The scheme. `http` and `https` on the same host are different origins.
    public let scheme: Scheme
    /// The host in lower case; an IPv6 address without brackets, an internationalized name in its ASCII form (`xn--…`).
    public let host: String
    /// The port; the scheme's default if the URL has none.
    public let port: UInt16
    /// Host and port as in the Host header: an IPv6 address in brackets, the default port left out.
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
