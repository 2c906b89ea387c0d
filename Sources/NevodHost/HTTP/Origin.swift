internal import NevodSupport

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

extension Origin {
    /// Parses an origin: a scheme, a host and perhaps a port, as in `https://api.example.com:8443`.
    ///
    /// Refuses a path, a query, a fragment and a user, because they would look like a limit that an origin can't express. One slash
    /// at the end is allowed.
    ///
    /// - Throws: ``InvalidRequestError``. Its ``InvalidRequestError/problem`` repeats only the origin of the text.
    public init(_ text: String) throws(InvalidRequestError) {
        let url = try HTTPURL(text)
        let start = text.range(ofASCII: "://")?.upperBound ?? text.startIndex
        let rest = text.utf8[start...].drop { !"/?#\\".utf8.contains($0) }
        guard rest.isEmpty || rest.elementsEqual("/".utf8) else {
            throw InvalidRequestError(.url(text), "an origin is a scheme, a host and perhaps a port; write \(url.origin)")
        }
        self = url.origin
    }

    /// The origin of a URL (RFC 6454 §4).
    ///
    /// - Throws: ``InvalidRequestError`` for a URL that no request can have.
    public init(ofURL url: String) throws(InvalidRequestError) {
        self = try HTTPURL(url).origin
    }
}

extension Origin {
    /// Whether the origin's server is on this machine: 127.0.0.0/8, ::1, or `localhost`, which libcurl resolves to one of them
    /// without asking any server (RFC 6761 §6.3).
    package var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        // Only in the usual form: resolvers disagree on numbers of other forms, such as `127.1` and `0177.0.0.1`.
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0).map(String.init) == String($0) }
    }

    /// Whether only the server itself can have written a response: over TLS, or on this machine.
    package var isAuthentic: Bool { scheme == .https || isLoopback }
}
