import NevodTestSupport

@testable import NevodHost

/// Responds without a network, and records the requests.
final class TestTransport: HTTPTransport {
    private let requests = Collected<HTTPRequest>()
    private let response: @Sendable (Int, HTTPRequest) throws(TransportError) -> Int

    /// - Parameter response: gets an attempt's number, from 1, and returns the status.
    init(_ response: @escaping @Sendable (Int, HTTPRequest) throws(TransportError) -> Int = { _, _ in 200 }) {
        self.response = response
    }

    var sent: [HTTPRequest] { requests.values }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        requests.append(request)
        let status = try response(requests.values.count, request)
        return HTTPResponse(version: .http11, status: status, reason: "", headers: HTTPHeaders(), body: .bytes([]))
    }
}
