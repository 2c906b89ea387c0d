internal import CCurl
public import NevodSupport

/// The transport on libcurl. All requests of a session share its connections. Servers are verified, and only the request's own
/// header lines are sent. Redirects are returned, not followed.
public final class CurlSession: HTTPTransport {
    /// The settings for all connections of a session.
    public struct Configuration: Sendable {
        /// The path of a PEM file with certificates to trust instead of the system's.
        public var caFile: String?
        /// The expected public key of the server: `sha256//` and a base64 digest, or several separated by `;`, or the path of a
        /// key in PEM or DER.
        public var pinnedPublicKey: String?
        /// The expected public keys of some hosts, which replace ``pinnedPublicKey`` for them. They apply to each request to the
        /// host, even after a redirect and through a proxy, but not to a proxy itself.
        public var pins: PinnedKeys
        /// The certificate for servers that request one; nil for no certificate.
        public var clientCertificate: ClientCertificate?
        /// The proxies; by default from the environment.
        public var proxy: ProxySettings
        /// The user for proxies without a user in their URL, as `name:password`; nil for no user. Sent only to a proxy.
        public var proxyUser: Secret?
        /// How connections are made; by default as libcurl makes them.
        public var connection: ConnectionSettings
        /// Limits the simultaneous connections to one host; further requests wait. 0 for no limit.
        public var maxConnectionsPerHost: Int
        /// Whether to request compressed responses and return them decompressed. A response then fails if its compressed body is
        /// incomplete or invalid, or if it has a coding other than `gzip`, `deflate`, `br` and `zstd`.
        public var decompresses: Bool
        /// Limits how much larger a body may become when it is decompressed.
        public var decompressionLimit: DecompressionLimit
        /// Limits all header lines of a response together, in bytes.
        public var maxHeaderSize: Int

        /// Creates a configuration. By default: the system's certificates, no pinned keys, the environment's proxies, and no
        /// decompression.
        public init(
            caFile: String? = nil, pinnedPublicKey: String? = nil, clientCertificate: ClientCertificate? = nil,
            proxy: ProxySettings = ProxySettings(), maxConnectionsPerHost: Int = 0, decompresses: Bool = false,
            maxHeaderSize: Int = 256 << 10, decompressionLimit: DecompressionLimit = DecompressionLimit(),
            pins: PinnedKeys = PinnedKeys(), proxyUser: Secret? = nil, connection: ConnectionSettings = ConnectionSettings()
        ) {
            self.caFile = caFile
            self.pinnedPublicKey = pinnedPublicKey
            self.pins = pins
            self.clientCertificate = clientCertificate
            self.proxy = proxy
            self.proxyUser = proxyUser
            self.connection = connection
            self.maxConnectionsPerHost = maxConnectionsPerHost
            self.decompresses = decompresses
            self.maxHeaderSize = maxHeaderSize
            self.decompressionLimit = decompressionLimit
        }
    }

    /// A client certificate for mutual TLS, in PEM files.
    public struct ClientCertificate: Sendable {
        /// The path of the certificate's file. If the certificate has a chain, it follows in the same file.
        public var certificateFile: String
        /// The path of the private key; nil if it is in the certificate's file.
        public var keyFile: String?
        /// The passphrase of an encrypted key; nil if the key isn't encrypted.
        public var keyPassphrase: Secret?

        /// The files are read when a connection is made; an unreadable one fails the request with
        /// ``TransportError/Code/tlsConfiguration``.
        public init(certificateFile: String, keyFile: String? = nil, keyPassphrase: Secret? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
            self.keyPassphrase = keyPassphrase
        }
    }

    /// The loop, or the reason that it could not be created, which each request then throws.
    private let loop: Result<CurlLoop, TransportError>
    private let acceptEncoding: String?

    /// Creates a session. Its thread starts with the first request and ends with the session. If no file descriptor is left for
    /// it, each request fails with an error that says so.
    public init(_ configuration: Configuration = Configuration()) {
        loop = Result { () throws(TransportError) in
            try CurlLoop(maxConnectionsPerHost: configuration.maxConnectionsPerHost) { () throws(TransportError) in
                try CurlHandle(configuration)
            }
        }
        acceptEncoding = configuration.decompresses ? ContentCoding.accepted : nil
    }

    deinit {
        if case .success(let loop) = loop { loop.stop() }
    }

    public var executor: (any TaskExecutor)? {
        if case .success(let loop) = loop { loop } else { nil }
    }

    public var decodesContent: Bool { acceptEncoding != nil }

    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        let loop = try loop.get()
        var request = request
        prepare(&request)
        let transfer = CurlTransfer(request, options)
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: CurlTransfer.ResponseContinuation) in
                transfer.setContinuation(continuation)
                loop.perform(.start(transfer))
            }
        } onCancel: {
            loop.perform(.cancel(transfer))
        }
        return try result.get()
    }

    public func prepare(_ request: inout HTTPRequest) {
        request.materialize()
        if let acceptEncoding, !request.headers.contains("Accept-Encoding") {
            request.headers.add("Accept-Encoding", acceptEncoding, by: .host)
        }
    }
}
