/// How a session connects: where to, with which protocol versions, and how fast it may send and receive.
///
/// These settings don't change a request's origin, which decides its credentials, its cookies and the certificate's name.
public struct ConnectionSettings: Sendable, Hashable {
    /// A Unix domain socket.
    public enum UnixSocket: Sendable, Hashable {
        /// A path in the file system.
        case path(String)
        /// A name in Linux's abstract namespace, without its leading zero byte.
        case abstract(String)
    }

    /// The kind of addresses to connect to.
    public enum IPVersion: Sendable, Hashable {
        /// Whichever connects first (RFC 8305).
        case any
        /// IPv4 only.
        case v4
        /// IPv6 only.
        case v6
    }

    /// The version of HTTP to ask for.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/2 where TLS negotiates it (RFC 7301), or else HTTP/1.1.
        case automatic
        /// HTTP/1.1 only.
        case http11
        /// HTTP/2 where TLS negotiates it, and with `http` by an upgrade (RFC 7540 §3.2).
        case http2
        /// HTTP/2 without asking the server first, even with `http` (RFC 9113 §3.3).
        case http2PriorKnowledge
    }

    /// A version of TLS.
    public enum TLSVersion: Int, Sendable, Hashable, Comparable {
        /// RFC 5246.
        case v12 = 2
        /// RFC 8446.
        case v13 = 3

        public static func < (one: TLSVersion, other: TLSVersion) -> Bool { one.rawValue < other.rawValue }
    }

    /// Addresses to use instead of a name lookup, each as `HOST:PORT:ADDRESS[,ADDRESS]…`; `*` for any host.
    public var addresses: [String]
    /// Other places to connect to, each as `HOST:PORT:OTHERHOST:OTHERPORT`; an empty `HOST` or `PORT` matches any, and an empty
    /// `OTHERHOST` or `OTHERPORT` changes nothing.
    public var connectTo: [String]
    /// The socket to connect to instead of any host. Proxies don't apply then.
    public var unixSocket: UnixSocket?
    /// The kind of addresses to connect to.
    public var ipVersion: IPVersion
    /// The version of HTTP.
    public var httpVersion: HTTPVersion
    /// The lowest version of TLS; nil for libcurl's minimum, which is 1.2 or what the system's OpenSSL demands.
    public var minimumTLS: TLSVersion?
    /// The highest version of TLS; nil for no limit.
    public var maximumTLS: TLSVersion?
    /// The ciphers for TLS 1.2, in OpenSSL's notation; nil for OpenSSL's default.
    public var ciphers: String?
    /// The ciphers for TLS 1.3, separated by colons; nil for OpenSSL's default.
    public var tls13Ciphers: String?
    /// The network interface, address or host name to send from; nil for the system's choice.
    public var interface: String?
    /// The local ports to send from; nil for any.
    public var localPorts: ClosedRange<UInt16>?
    /// Limits how fast each transfer sends and receives, in bytes per second; nil for no limit.
    public var maxSpeed: Int64?
    /// Whether to fill ``ConnectionDetails/certificateFields``. This reads every certificate of each new connection.
    public var reportsCertificateFields: Bool

    /// Creates settings that change nothing.
    public init() {
        addresses = []
        connectTo = []
        unixSocket = nil
        ipVersion = .any
        httpVersion = .automatic
        minimumTLS = nil
        maximumTLS = nil
        ciphers = nil
        tls13Ciphers = nil
        interface = nil
        localPorts = nil
        maxSpeed = nil
        reportsCertificateFields = false
    }
}
