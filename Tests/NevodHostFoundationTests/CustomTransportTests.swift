import NevodHost
import NevodTestSupport
import Testing

/// A transport as a program would write it, with only public names.
struct CustomTransportTests {
    private struct Busy: HTTPTransport {
        let attempts = Collected<HTTPHeaders>()
        let retryAfter: HTTPHeaders

        func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
            attempts.append(request.headers)
            let isFirst = attempts.values.count == 1
            return HTTPResponse(
                version: .http11, status: isFirst ? 503 : 200, reason: "", headers: isFirst ? retryAfter : [:],
                body: .bytes(Array("done".utf8)))
        }
    }

    private func config(_ maxDelay: Duration) -> NetworkConfig {
        NetworkConfig(
            environments: [DefaultDomain.default: SimpleEnvironment(baseURL: "http://h")],
            retryPolicy: RetryPolicy(baseDelay: .zero, maxDelay: maxDelay, jitter: false))
    }

    private let route = SimpleGetRoute<String, DefaultDomain>(endpoint: "/a", domain: .default)

    @Test func `A response can ask for a wait with Retry-After`() async throws {
        let busy = Busy(retryAfter: try HTTPHeaders([("Retry-After", "1")]))
        let start = ContinuousClock.now
        #expect(try await NetworkProvider(config: config(.seconds(60)), session: busy).perform(route) == "done")
        #expect(busy.attempts.values.count == 2)
        #expect(ContinuousClock.now - start >= .seconds(1))
        // If the wait is longer than the policy allows, there is no retry.
        let patient = Busy(retryAfter: ["Retry-After": "3600"])
        let result = await NetworkProvider(config: config(.seconds(60)), session: patient).request(route)
        guard case .failure(.serverError(503, _, let response)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(response?.headers["retry-after"] == "3600" && patient.attempts.values.count == 1)
    }

    @Test func `Headers keep the order and the repetitions of their pairs`() throws {
        let fields = [("B", "1"), ("a", " 2 "), ("b", ""), ("Set-Cookie", "x=1"), ("Set-Cookie", "y=2")]
        let literal: HTTPHeaders = ["B": "1", "a": " 2 ", "b": "", "Set-Cookie": "x=1", "Set-Cookie": "y=2"]
        for headers in [try HTTPHeaders(fields), try HTTPHeaders(fields.lazy.map { ($0.0, $0.1) }), literal] {
            #expect(headers.map(\.name) == ["B", "a", "b", "Set-Cookie", "Set-Cookie"])
            #expect(headers.map(\.value) == ["1", "2", "", "x=1", "y=2"])
        }
        let empty: HTTPHeaders = [:]
        #expect(empty.isEmpty)
    }

    @Test(arguments: [("a b", "1"), ("", "1"), ("a:", "1"), ("a", "1\r\nb: 2"), ("a", "\u{0}"), ("ä", "1")])
    func `A field that no message can have is refused`(name: String, value: String) throws {
        #expect(throws: InvalidRequestError.self) { try HTTPHeaders([("x", "1"), (name, value)]) }
        let literal: HTTPHeaders = ["x": "1", name: value, "y": "2"]
        #expect(literal.map(\.name) == ["x", "y"])
    }
}
