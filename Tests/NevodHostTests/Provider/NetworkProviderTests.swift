import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct NetworkProviderTests {
    private struct Stamp: TokenModel {
        let value: String
        func authorize(_ request: inout HTTPRequest) throws { try request.setHeader("X-Token", value) }
        func encode() throws -> [UInt8] { Array(value.utf8) }
        static func decode(from data: [UInt8]) throws -> Stamp { Stamp(value: String(decoding: data, as: UTF8.self)) }
    }

    private struct Refusing: TokenModel {
        struct Refusal: Error {}
        func authorize(_ request: inout HTTPRequest) throws { throw Refusal() }
        func encode() throws -> [UInt8] { [] }
        static func decode(from data: [UInt8]) throws -> Refusing { Refusing() }
    }

    private struct Adapting: RequestInterceptor {
        let adapt: @Sendable (inout Exchange) throws -> Void
        func adapt(_ exchange: inout Exchange) async throws { try adapt(&exchange) }
    }

    private struct Retrying: RequestInterceptor {
        let asked: Collected<Int>
        var decision: @Sendable (Int) throws -> Bool = { _ in true }
        func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool {
            asked.append(exchange.attempt)
            return try decision(exchange.attempt)
        }
    }

    private func request(_ body: HTTPBody = .none) throws -> HTTPRequest {
        try HTTPRequest(.post, "http://h/p", body: body)
    }

    @Test func `The signer follows the chain, and sees every header line`() async throws {
        let transport = TestTransport()
        let provider = NetworkProvider(
            session: transport, interceptor: HeadersInterceptor(headers: ["X-Chain": "1"]),
            signer: try TestPlugin.view.get().scheme().makeInstance(clock: .fixed).token)
        _ = try await provider.send(request(.bytes([1])))
        let sent = try #require(transport.sent.first)
        let seen = sent.headers.values(of: "V-Name")
        #expect(seen == ["Host", "Content-Length", "X-Chain"].map { hex($0.utf8) })
        #expect(sent.headers.prefix(3).map(\.name) == ["Host", "Content-Length", "X-Chain"])
        #expect(sent.headers.prefix(3).map(\.provenance) == [.host, .host, .caller])
    }

    @Test func `A native token's edits have the token's provenance`() async throws {
        let transport = TestTransport()
        _ = try await NetworkProvider(session: transport, signer: Stamp(value: "secret")).send(request())
        let sent = try #require(transport.sent.first)
        #expect(Array(sent.headers).last == HTTPHeaders.Element(name: "X-Token", value: "secret", provenance: .token("Stamp")))
        #expect(sent.redactedHead.last == "X-Token: [redacted: token Stamp]")
    }

    @Test func `authorize sends nothing, and returns what send would send`() async throws {
        let transport = TestTransport()
        let provider = NetworkProvider(session: transport, signer: Stamp(value: "1"))
        let authorized = try await provider.authorize(request())
        #expect(transport.sent.isEmpty)
        _ = try await provider.send(request())
        #expect(transport.sent.map { Array($0.headers) } == [Array(authorized.headers)])
    }

    @Test func `Every attempt starts from the caller's request`() async throws {
        let transport = TestTransport { attempt, _ in attempt < 3 ? 503 : 200 }
        let chain = InterceptorChain([
            Adapting {
                try $0.request.addHeader("X-Attempt", "\($0.attempt)")
                $0.request.appendQueryItem("n".utf8, "\($0.attempt)".utf8)
            }, Retrying(asked: Collected()) { $0 < 3 },
        ])
        let response = try await NetworkProvider(session: transport, interceptor: chain).send(request())
        #expect(response.status == 200)
        #expect(transport.sent.map { $0.headers.values(of: "X-Attempt") } == [["1"], ["2"], ["3"]])
        #expect(transport.sent.map(\.target) == ["/p?n=1", "/p?n=2", "/p?n=3"])
    }

    @Test func `A plugin gets the number of the attempt`() async throws {
        let transport = TestTransport { attempt, _ in attempt < 3 ? 401 : 200 }
        let signer = try TestPlugin.view.get().scheme().makeInstance().token
        let provider = NetworkProvider(session: transport, interceptor: Retrying(asked: Collected()) { $0 < 3 }, signer: signer)
        _ = try await provider.send(request())
        #expect(transport.sent.map { $0.headers["V-Attempt"] } == ["1", "2", "3"])
        #expect(transport.sent.map { $0.headers["V-Use-Count"] } == ["0", "1", "2"])
    }

    @Test func `A body that can be read once is sent once`() async throws {
        let asked = Collected<Int>()
        for (isReplayable, attempts) in [(false, 1), (true, 16)] {
            let transport = TestTransport { _, _ in 503 }
            let provider = NetworkProvider(session: transport, interceptor: Retrying(asked: asked))
            let body = HTTPBody.stream(.of([[1]], length: 1, isReplayable: isReplayable))
            #expect(try await provider.send(request(body)).status == 503)
            #expect(transport.sent.count == attempts)
            // The interceptor is still called, because a rejected token is renewed for later requests.
            #expect(asked.values.count == (isReplayable ? 17 : 1))
        }
    }

    @Test func `Attempts are bounded, and the last outcome is returned`() async throws {
        let transport = TestTransport { attempt, _ throws(TransportError) in
            guard attempt < 16 else { throw TransportError(.timedOut) }
            return 500
        }
        let error = await #expect(throws: NetworkError.self) {
            try await NetworkProvider(session: transport, interceptor: Retrying(asked: Collected())).send(request())
        }
        guard case .timeout(let transportError)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(transportError.code == .timedOut)
        #expect(transport.sent.count == 16)
    }

    @Test func `Interceptors may retry failures as well as responses`() async throws {
        let transport = TestTransport { attempt, _ throws(TransportError) in
            guard attempt > 1 else { throw TransportError(.connectionLost) }
            return 200
        }
        let asked = Collected<Int>()
        let response = try await NetworkProvider(session: transport, interceptor: Retrying(asked: asked) { $0 == 1 }).send(
            request())
        #expect(response.status == 200)
        #expect(asked.values == [1, 2])
    }

    @Test func `Errors name their origin`() async throws {
        struct Wrong: Error {}
        let adapting = Adapting { _ in throw Wrong() }
        let first = await #expect(throws: NetworkError.self) {
            try await NetworkProvider(session: TestTransport(), interceptor: adapting).send(request())
        }
        if case .interceptor("Adapting", is Wrong)? = first {} else { Issue.record("\(String(describing: first))") }

        let retrying = Retrying(asked: Collected()) { _ in throw Wrong() }
        let second = await #expect(throws: NetworkError.self) {
            try await NetworkProvider(session: TestTransport(), interceptor: retrying).send(request())
        }
        if case .interceptor("Retrying", is Wrong)? = second {} else { Issue.record("\(String(describing: second))") }

        let third = await #expect(throws: NetworkError.self) {
            try await NetworkProvider(session: TestTransport(), signer: Refusing()).send(request())
        }
        if case .authorization(is Refusing.Refusal)? = third {} else { Issue.record("\(String(describing: third))") }
    }

    /// An error names the interceptor that caused it.
    @Test func `An error names the interceptor, not the chain`() async throws {
        struct Wrong: Error {}
        let chain = InterceptorChain([HeadersInterceptor(headers: [:]), Adapting { _ in throw Wrong() }])
        let error = await #expect(throws: NetworkError.self) {
            try await NetworkProvider(session: TestTransport(), interceptor: chain).send(request())
        }
        guard case .interceptor("Adapting", is Wrong)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `Cancellation is its own error, and not retried`() async throws {
        let asked = Collected<Int>()
        let transport = TestTransport { _, _ throws(TransportError) in throw TransportError(.cancelled) }
        let error = await #expect(throws: NetworkError.self) {
            try await NetworkProvider(session: transport, interceptor: Retrying(asked: asked)).send(request())
        }
        guard case .cancelled? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(asked.values.isEmpty)
        #expect(transport.sent.count == 1)
    }

    @Test func `The observer sees every attempt, as it is sent`() async throws {
        let transport = TestTransport { attempt, _ in attempt < 2 ? 503 : 200 }
        let observed = Collected<[HTTPHeaders.Element]>()
        let provider = NetworkProvider(
            session: transport, interceptor: Retrying(asked: Collected()) { $0 < 2 }, signer: Stamp(value: "1"),
            observer: { observed.append(Array($0.headers)) })
        _ = try await provider.send(request())
        #expect(observed.values.count == 2)
        #expect(observed.values == transport.sent.map { Array($0.headers) })
    }

    // MARK: Streams that are signed

    private func signed(_ body: HTTPBodyStream) async throws -> HTTPResponse {
        let server = try DemoServer.shared.get()
        let signer = try TestPlugin.hmac.get().scheme()
            .makeInstance(settings: ["api-key": "demo", "secret": .text(DemoServer.secret)]).token
        return try await NetworkProvider(session: CurlSession(), signer: signer)
            .send(HTTPRequest(.put, "\(server.url)/upload", body: .stream(body)), RequestOptions(timeout: .seconds(30)))
    }

    @Test(arguments: [true, false])
    func `A stream that can be read again is signed with its digest`(isLengthKnown: Bool) async throws {
        let pieces = (0..<50).map { [UInt8](repeating: UInt8($0), count: 10_007) }
        let opened = Collected<Void>()
        let response = try await signed(.of(pieces, length: isLengthKnown ? 50 * 10_007 : nil, opened: opened))
        #expect(response.status == 200)
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        #expect(text.contains("\"verified\": true"))
        #expect(text.contains("\"body_bytes\": 500350"))
        #expect(opened.values.count == 2)
    }

    @Test func `A stream that can be read once is the plugin's error`() async throws {
        let opened = Collected<Void>()
        let error = await #expect(throws: NetworkError.self) {
            try await signed(.of([[1]], length: 1, isReplayable: false, opened: opened))
        }
        guard case .plugin(let plugin)? = error, case .failed("hmac", "authorize", 5, _, let message, _) = plugin.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.hasPrefix("a body that can be read only once can't be signed"))
        #expect(opened.values.isEmpty)
    }

    @Test func `A stream whose digest can't be read fails before anything is sent`() async throws {
        struct Broken: Error {}
        let error = await #expect(throws: NetworkError.self) { try await signed(.of([[1]], length: 1, failure: Broken())) }
        guard case .authorization(is Broken)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// Three digests are needed, and a body may be a gigabyte on a disk.
    @Test func `A stream is read once for all its digests`() async throws {
        let opened = Collected<Void>()
        let signer = try TestPlugin.view.get().scheme().makeInstance().token
        let body = HTTPBodyStream.of([[1]], length: 1, opened: opened)
        let sent = try await NetworkProvider(session: TestTransport(), signer: signer).authorize(request(.stream(body)))
        #expect(sent.headers.values(of: "V-Digest").count == 3)
        #expect(opened.values.count == 1)
    }
}

/// Tests the configuration's policy and limits.
extension NetworkProviderTests {
    private enum Service: ServiceDomain {
        case api
        var identifier: String { "api" }
    }

    private func provider(
        _ transport: TestTransport, _ policy: RetryPolicy, interceptor: any RequestInterceptor = InterceptorChain([]),
        limiter: (any RateLimiting)? = nil
    ) -> NetworkProvider {
        NetworkProvider(
            config: NetworkConfig(
                environments: [Service.api: SimpleEnvironment(baseURL: "http://h")], timeout: .seconds(500), retryPolicy: policy),
            session: transport, interceptor: interceptor, rateLimiter: limiter)
    }

    private var hasty: RetryPolicy { RetryPolicy(maxAttempts: 3, baseDelay: .milliseconds(1), jitter: false) }

    @Test func `The policy sends an idempotent request again, and no other`() async throws {
        let failing = TestTransport { _, _ in 503 }
        #expect(try await provider(failing, hasty).send(HTTPRequest(.get, "http://h/")).status == 503)
        #expect(failing.sent.count == 3)
        let posting = TestTransport { _, _ in 503 }
        #expect(try await provider(posting, hasty).send(request()).status == 503)
        #expect(posting.sent.count == 1)
    }

    @Test func `A call's own policy overrides the configuration's`() async throws {
        let transport = TestTransport { _, _ in 503 }
        _ = try await provider(transport, hasty).send(
            HTTPRequest(.get, "http://h/"), RequestOptions(retryPolicy: RetryPolicy.none))
        #expect(transport.sent.count == 1)
    }

    @Test func `A retry that an interceptor asks for is not the policy's`() async throws {
        let transport = TestTransport { attempt, _ in attempt == 1 ? 401 : attempt < 4 ? 503 : 200 }
        let provider = provider(transport, hasty, interceptor: Retrying(asked: Collected()) { $0 == 1 })
        #expect(try await provider.send(HTTPRequest(.get, "http://h/")).status == 200)
        #expect(transport.sent.count == 4)
    }

    @Test func `A retry beyond the request's deadline is not begun, and the response is returned`() async throws {
        let transport = TestTransport { _, _ in 503 }
        let slow = RetryPolicy(maxAttempts: 3, baseDelay: .seconds(5000), maxDelay: .seconds(5000), jitter: false)
        let response = try await provider(transport, slow).send(
            HTTPRequest(.get, "http://h/"), RequestOptions(timeout: .seconds(500)))
        #expect(response.status == 503)
        #expect(transport.sent.count == 1)
    }

    @Test func `The rate limiter delays each attempt, bounded by the request's deadline`() async throws {
        struct Counting: RateLimiting {
            let asked: Collected<Int>
            func acquire() async throws { asked.append(1) }
        }
        struct Never: RateLimiting {
            func acquire() async throws { try await Task.sleep(for: .seconds(1000)) }
        }
        let asked = Collected<Int>()
        let transport = TestTransport { _, _ in 503 }
        _ = try await provider(transport, hasty, limiter: Counting(asked: asked)).send(HTTPRequest(.get, "http://h/"))
        #expect(asked.values.count == 3)
        await #expect(throws: NetworkError.timeout) {
            try await provider(transport, hasty, limiter: Never()).send(
                HTTPRequest(.get, "http://h/"), RequestOptions(timeout: .milliseconds(10)))
        }
    }

    @Test func `Retries of all requests together stay within a budget`() async throws {
        let transport = TestTransport { _, _ in 503 }
        let provider = provider(transport, hasty)
        for _ in 0..<300 { _ = try await provider.send(HTTPRequest(.get, "http://h/")) }
        // 300 requests, a tenth as many retries, and the reserve, which starts full and refills over time.
        #expect((330...400).contains(transport.sent.count), "\(transport.sent.count)")
    }

    @Test func `Signatures are applied last, wherever they are in the chain`() async throws {
        let transport = TestTransport()
        let chain = InterceptorChain([
            InterceptorChain([TokenInterceptor(Stamp(value: "signed"), phase: .signature)]),
            HeadersInterceptor(headers: ["X-Late": "1"]),
        ])
        _ = try await NetworkProvider(session: transport, interceptor: chain).send(request())
        #expect(transport.sent.first?.headers.map(\.name) == ["Host", "Content-Length", "X-Late", "X-Token"])
    }
}
