internal import CCurl
public import NevodSupport

/// The transport on libcurl: connections are kept and shared by all requests of a session, servers are verified, and
/// nothing is sent that does not stand in the request. Redirects are returned, not followed.
public final class CurlSession: HTTPTransport {
    /// What holds for all connections of a session.
    public struct Configuration: Sendable {
        /// Certificates to trust instead of the system's, in PEM.
        public var caFile: String?
        /// What the server's public key must be: `sha256//` and a base64 digest (several with `;` between them), or the path of
        /// a key in PEM or DER.
        public var pinnedPublicKey: String?
        /// Shown to servers that ask for one; nil: none.
        public var clientCertificate: ClientCertificate?
        /// What the environment says, by default.
        public var proxy: ProxySettings
        /// Connections to one host at a time; more requests wait for one. 0: no limit.
        public var maxConnectionsPerHost: Int
        /// Whether to ask for compressed answers, and to hand them over decompressed.
        public var decompresses: Bool
        /// Of all header lines of one answer, in bytes.
        public var maxHeaderSize: Int

        /// By default: the system's certificates, no pins, the environment's proxies, and answers as the server sent them.
        /// By default: the system's certificates, no pins, the environment's proxies, and answers as the server sent them.
        public init(
            caFile: String? = nil, pinnedPublicKey: String? = nil, clientCertificate: ClientCertificate? = nil,
            proxy: ProxySettings = ProxySettings(), maxConnectionsPerHost: Int = 0, decompresses: Bool = false,
            maxHeaderSize: Int = 256 << 10
        ) {
            self.caFile = caFile
            self.pinnedPublicKey = pinnedPublicKey
            self.clientCertificate = clientCertificate
            self.proxy = proxy
            self.maxConnectionsPerHost = maxConnectionsPerHost
            self.decompresses = decompresses
            self.maxHeaderSize = maxHeaderSize
        }
    }

    /// What this client shows a server that asks (mutual TLS). Files in PEM.
    public struct ClientCertificate: Sendable {
        /// A path; with the chain behind the certificate, where there is one.
        public var certificateFile: String
        /// Nil: the key stands in the certificate's file.
        public var keyFile: String?
        /// Of an encrypted key; nil: it isn't.
        public var keyPassphrase: Secret?

        /// The files are read when a connection is made: one that can't be is a ``TransportError/Code/tlsConfiguration``.
        public init(certificateFile: String, keyFile: String? = nil, keyPassphrase: Secret? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
            self.keyPassphrase = keyPassphrase
        }
    }

    private let loop: CurlLoop
    private let acceptEncoding: String?

    /// Starts the session's one thread, which ends with the session. Nothing is read or connected yet.
    public init(_ configuration: Configuration = Configuration()) {
        loop = CurlLoop(maxConnectionsPerHost: configuration.maxConnectionsPerHost) { CurlHandle(configuration) }
        acceptEncoding = configuration.decompresses ? CurlLibrary.contentCodings : nil
    }

    deinit {
        loop.stop()
    }

    public var executor: (any TaskExecutor)? { loop }

    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        var request = request
        prepare(&request)
        let transfer = CurlTransfer(request, options)
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (answer: CurlTransfer.Answer) in
                transfer.setAnswer(answer)
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
