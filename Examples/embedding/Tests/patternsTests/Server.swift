import NevodSessions

/// A service within the test: a transport that passes each request to a function and returns its response.
struct Server: HTTPTransport {
    struct Answer: Sendable {
        var status = 200
        var json = "{}"
        var headers: [(String, String)] = []
    }

    let answer: @Sendable (HTTPRequest) throws -> Answer

    init(_ answer: @escaping @Sendable (HTTPRequest) throws -> Answer) {
        self.answer = answer
    }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        do {
            let answer = try self.answer(request)
            return HTTPResponse(
                version: .http11, status: answer.status, reason: "",
                headers: try HTTPHeaders([("Content-Type", "application/json")] + answer.headers),
                body: .bytes(Array(answer.json.utf8)))
        } catch {
            throw TransportError(.other, "\(error)")
        }
    }
}
