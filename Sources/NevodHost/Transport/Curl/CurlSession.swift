internal import NevodSupport

/// The transport on libcurl: connections are kept and shared by all requests of a session, servers are verified, and
/// nothing is sent that does not stand in the request. Redirects are returned, not followed.
public final class CurlSession: HTTPTransport {
    public struct Configuration: Sendable {
        /// Certificates to trust instead of the system's, in PEM.
        public var caFile: String?

        public init(caFile: String? = nil) {
            self.caFile = caFile
        }
    }

    private let loop: CurlLoop

    public init(_ configuration: Configuration = Configuration()) {
        loop = CurlLoop { CurlHandle(configuration) }
    }

    deinit {
        loop.stop()
    }

    public var executor: (any TaskExecutor)? { loop }

    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        var request = request
        request.materialize()
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
}
