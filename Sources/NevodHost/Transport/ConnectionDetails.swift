/// The connection that a transfer used, for traces and diagnosis. (``TransferMetrics``, in contrast, measure the transfer.)
public struct ConnectionDetails: Sendable, Hashable {
    /// The protection of a connection.
    public struct TLS: Sendable, Hashable {
        /// The version, such as `TLSv1.3`.
        public var version: String
        /// The cipher suite, such as `TLS_AES_256_GCM_SHA384`.
        public var cipher: String
        /// The server's certificate; nil if it can't be read.
        public var certificate: Certificate?

        /// Creates a value, for transports.
        public init(version: String, cipher: String, certificate: Certificate? = nil) {
            self.version = version
            self.cipher = cipher
            self.certificate = certificate
        }
    }

    /// A server's certificate (RFC 5280).
    public struct Certificate: Sendable, Hashable {
        /// The subject's distinguished name, such as `CN = example.com`; may be empty.
        public var subject: String
        /// The issuer's distinguished name.
        public var issuer: String
        /// When the certificate becomes valid.
        public var notBefore: UnixTime
        /// When the certificate expires.
        public var notAfter: UnixTime

        /// Creates a value, for transports.
        public init(subject: String, issuer: String, notBefore: UnixTime, notAfter: UnixTime) {
            self.subject = subject
            self.issuer = issuer
            self.notBefore = notBefore
            self.notAfter = notAfter
        }
    }

    /// The IP address of the host, or of its proxy; the path of a Unix domain socket. Empty if there was no connection.
    public var remoteAddress: String
    /// The port of the host, or of its proxy; 0 if it has none.
    public var remotePort: Int
    /// The local address.
    public var localAddress: String
    /// The local port.
    public var localPort: Int
    /// Whether an earlier transfer opened the connection.
    public var isReused: Bool
    /// The URL of the proxy, without credentials; nil for a direct connection.
    public var proxy: String?
    /// The status of a proxy's last response to CONNECT (RFC 9110 §9.3.6); 0 if there was none.
    public var connectStatus: Int
    /// OpenSSL's result of verifying the server's certificate; 0 if it is valid, or without TLS.
    public var verificationResult: Int
    /// Nil without TLS, and if the handshake failed.
    public var tls: TLS?
    /// The fields of the server's certificates, as libcurl names them (`Subject:CN = …`). The last field of each certificate is
    /// the certificate itself in PEM. Empty for a reused connection, and unless ``ConnectionSettings/reportsCertificateFields``
    /// is set.
    public var certificateFields: [[String]]

    /// Creates a value, for transports. Details that a transport doesn't know stay empty.
    public init(
        remoteAddress: String = "", remotePort: Int = 0, localAddress: String = "", localPort: Int = 0, isReused: Bool = false,
        proxy: String? = nil, connectStatus: Int = 0, verificationResult: Int = 0, tls: TLS? = nil,
        certificateFields: [[String]] = []
    ) {
        self.remoteAddress = remoteAddress
        self.remotePort = remotePort
        self.localAddress = localAddress
        self.localPort = localPort
        self.isReused = isReused
        self.proxy = proxy
        self.connectStatus = connectStatus
        self.verificationResult = verificationResult
        self.tls = tls
        self.certificateFields = certificateFields
    }
}
