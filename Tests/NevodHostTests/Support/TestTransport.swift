import NevodTestSupport

@testable import NevodHost

/// Answers without a network, and remembers what it was asked to send.
final class TestTransport: HTTPTransport {
    private let requests = Collected<HTTPRequest>()
    private let answer: @Sendable (Int, HTTPRequest) throws(TransportError) -> Int

    /// - Parameter answer: the status for the attempt of that number, from 1.
    init(_ answer: @escaping @Sendable (Int, HTTPRequest) throws(TransportError) -> Int = { _, _ in 200 }) {
        self.answer = answer
    }

    var sent: [HTTPRequest] { requests.values }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        requests.append(request)
        let status = try answer(requests.values.count, request)
        return HTTPResponse(version: .http11, status: status, reason: "", headers: HTTPHeaders(), body: .bytes([]))
    }
}
