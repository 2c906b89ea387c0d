import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct AuthenticationInterceptorTests {
    private let memory = InMemoryStorage()
    private let exchanges = Collected<String?>()

    private func storage(_ value: String? = "1") async throws -> TokenStorage<Token> {
        let storage = TokenStorage<Token>(storage: memory)
        if let value { try await storage.save(Token(value: value)) }
        return storage
    }

    /// Accepts the tokens of `good`.
    private func server(_ good: Set<String>) -> TestTransport {
        TestTransport { _, request in good.contains(Self.token(of: request) ?? "") ? 200 : 401 }
    }

    private static func token(of request: HTTPRequest) -> String? {
        request.headers["Authorization"].map { String($0.dropFirst("Bearer ".count)) }
    }

    private func tokens(_ transport: TestTransport) -> [String?] { transport.sent.map(Self.token) }

    private func interceptor(
        _ storage: TokenStorage<Token>,
        _ refresh: @escaping @Sendable (Token?) async throws -> Token = { Token(value: ($0?.value ?? "0") + "'") },
        shouldAuthenticate: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) -> AuthenticationInterceptor<Token> {
        AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { [exchanges] old in
                exchanges.append(old?.value)
                return try await refresh(old)
            }, shouldAuthenticate: shouldAuthenticate)
    }

    private func request(_ body: HTTPBody = .none, host: String = "h") throws -> HTTPRequest {
        try HTTPRequest(.post, "http://\(host)/p", body: body)
    }

    @Test func `A refused token is renewed, saved, and the request sent again`() async throws {
        let (storage, transport) = (try await storage(), server(["1'"]))
        let provider = NetworkProvider(session: transport, interceptor: interceptor(storage))
        #expect(try await provider.send(request()).status == 200)
        #expect(tokens(transport) == ["1", "1'"])
        #expect(exchanges.values == ["1"])
        #expect(try await storage.load()?.value == "1'")
    }

    @Test func `Without a token the request is sent without, and its 401 asks the strategy for one`() async throws {
        let transport = server(["0'"])
        let provider = NetworkProvider(session: transport, interceptor: interceptor(try await storage(nil)))
        #expect(try await provider.send(request()).status == 200)
        #expect(tokens(transport) == [nil, "0'"])
        #expect(exchanges.values == [nil])
    }

    @Test func `A late 401 for an older token costs no exchange`() async throws {
        let (storage, memory) = (try await storage(), memory)
        let transport = TestTransport { attempt, request in
            // Another request renewed the token while this one was in flight.
            if attempt == 1 { memory.set(Array("2".utf8), for: .token) }
            return Self.token(of: request) == "2" ? 200 : 401
        }
        let provider = NetworkProvider(session: transport, interceptor: interceptor(storage))
        #expect(try await provider.send(request()).status == 200)
        #expect(tokens(transport) == ["1", "2"])
        #expect(exchanges.values.isEmpty)
    }

    @Test func `A second 401, with the new token, is returned`() async throws {
        let transport = server([])
        let provider = NetworkProvider(session: transport, interceptor: interceptor(try await storage()))
        #expect(try await provider.send(request()).status == 401)
        #expect(tokens(transport) == ["1", "1'"])
        #expect(exchanges.values == ["1"])
    }

    @Test func `A token that changes during every attempt doesn't cause endless retries`() async throws {
        let (storage, memory) = (try await storage(), memory)
        let transport = TestTransport { attempt, _ in
            memory.set(Array("other \(attempt)".utf8), for: .token)
            return 401
        }
        let provider = NetworkProvider(session: transport, interceptor: interceptor(storage))
        #expect(try await provider.send(request()).status == 401)
        #expect(transport.sent.count == 4)
        #expect(exchanges.values.isEmpty)
    }

    @Test(arguments: [false, true])
    func `Without another token the stored one stays, and the 401 is returned`(throwing: Bool) async throws {
        let (storage, transport) = (try await storage(), server([]))
        let interceptor = interceptor(storage) { old in
            guard !throwing, let old else { throw NetworkError.unauthorized }
            return old
        }
        let provider = NetworkProvider(session: transport, interceptor: interceptor)
        #expect(try await provider.send(request()).status == 401)
        // Identical credentials are never sent twice for one challenge.
        #expect(tokens(transport) == ["1"])
        #expect(try await storage.load()?.value == "1")
    }

    @Test func `A body that can be read once is not sent again, and the renewed token is kept`() async throws {
        let (storage, transport) = (try await storage(), server(["1'"]))
        let provider = NetworkProvider(session: transport, interceptor: interceptor(storage))
        let once = HTTPBody.stream(.of([[1]], length: 1, isReplayable: false))
        #expect(try await provider.send(request(once)).status == 401)
        #expect(tokens(transport) == ["1"])
        #expect(try await storage.load()?.value == "1'")
        #expect(try await provider.send(request()).status == 200)
        #expect(exchanges.values == ["1"])
    }

    @Test func `A failed renewal is that request's error, and the token stays`() async throws {
        struct Down: Error {}
        let (storage, transport) = (try await storage(), server([]))
        let provider = NetworkProvider(session: transport, interceptor: interceptor(storage) { _ in throw Down() })
        let error = await #expect(throws: NetworkError.self) { try await provider.send(request()) }
        #expect(error == .authenticationFailed)
        #expect(error?.underlying is Down)
        #expect(try await storage.load()?.value == "1")
    }

    @Test(arguments: [
        (NetworkError.clientError(400, data: Array(#"{"error":"invalid_grant"}"#.utf8), response: nil), true),
        (.clientError(400, data: Array(#"{"error":"invalid_request"}"#.utf8), response: nil), false),
        (.clientError(404, data: Array(#"{"error":"invalid_grant"}"#.utf8), response: nil), false),
        (.unauthorized(data: [], response: Self.response(401)), true),
        (.unauthorized(data: Array(#"{"error":"invalid_client"}"#.utf8), response: Self.response(401)), false),
        (.unauthorized(data: Array(#"{"error":"invalid_client""#.utf8), response: Self.response(401)), false),
        (.unauthorized(data: Array(#"{"error":"access_denied"}"#.utf8), response: Self.response(401)), false),
        (.unauthorized(data: Array(#"{"message":"expired"}"#.utf8), response: Self.response(401)), true),
        (.serverError(500), false), (.timeout, false), (.noConnection, false),
    ])
    func `Only the server's refusal clears a token`(error: NetworkError, clears: Bool) async throws {
        let storage = try await storage()
        let provider = NetworkProvider(session: server([]), interceptor: interceptor(storage) { _ in throw error })
        _ = try? await provider.send(request())
        #expect(try await (storage.load() == nil) == clears)
    }

    @Test func `A refusal that a custom rule recognizes clears it too`() async throws {
        let storage = try await storage()
        let provider = NetworkProvider(
            session: server([]), interceptor: interceptor(storage) { _ in throw RefreshRejectedError("revoked") })
        #expect(try await provider.send(request()).status == 401)
        #expect(try await storage.load() == nil)
    }

    private static func response(_ status: Int) -> HTTPResponse {
        HTTPResponse(version: .http11, status: status, reason: "", headers: HTTPHeaders(), body: .bytes([]))
    }
}

/// Tests requests during a renewal.
extension AuthenticationInterceptorTests {
    /// A strategy that waits until the test lets it go on.
    private func slow(_ storage: TokenStorage<Token>, _ started: Latch, _ goOn: Latch) -> AuthenticationInterceptor<Token> {
        interceptor(storage) { old in
            started.set()
            await goOn.wait()
            return Token(value: (old?.value ?? "0") + "'")
        }
    }

    @Test func `Cancelling a request that waits cancels only that one`() async throws {
        let (started, goOn) = (Latch(), Latch())
        let transport = server(["1'"])
        let provider = NetworkProvider(session: transport, interceptor: slow(try await storage(), started, goOn))
        let request = try request()
        let first = Task { try await provider.send(request).status }
        await started.wait()
        let others = (0..<10).map { _ in Task { try await provider.send(request).status } }
        let cancelled = Task { try await provider.send(request).status }
        cancelled.cancel()
        first.cancel()
        for task in [cancelled, first] {
            #expect(await task.result.failure as? NetworkError == .cancelled)
        }
        goOn.set()
        for task in others { #expect(try await task.value == 200) }
        #expect(exchanges.values == ["1"])
    }

    @Test func `A logout during a renewal is not undone by it`() async throws {
        let (started, goOn) = (Latch(), Latch())
        let storage = try await storage()
        let transport = server(["1'"])
        let provider = NetworkProvider(session: transport, interceptor: slow(storage, started, goOn))
        let request = try request()
        let task = Task { try await provider.send(request).status }
        await started.wait()
        try await storage.clear()
        goOn.set()
        // Retried without a token, because none is stored.
        #expect(try await task.value == 401)
        #expect(tokens(transport) == ["1", nil])
        #expect(try await storage.load() == nil)
    }

    @Test func `A login during a renewal replaces its result`() async throws {
        let (started, goOn) = (Latch(), Latch())
        let storage = try await storage()
        let transport = server(["9"])
        let provider = NetworkProvider(session: transport, interceptor: slow(storage, started, goOn))
        let request = try request()
        let task = Task { try await provider.send(request).status }
        await started.wait()
        try await storage.save(Token(value: "9"))
        goOn.set()
        #expect(try await task.value == 200)
        #expect(try await storage.load()?.value == "9")
    }

    @Test func `A slow renewal times out the request, and continues`() async throws {
        let (started, goOn) = (Latch(), Latch())
        let storage = try await storage()
        let provider = NetworkProvider(session: server(["1'"]), interceptor: slow(storage, started, goOn))
        let error = await #expect(throws: NetworkError.self) {
            try await provider.send(request(), RequestOptions(timeout: .milliseconds(20)))
        }
        #expect(error == .timeout)
        var changes = storage.changes.makeAsyncIterator()
        goOn.set()
        #expect(await changes.next()??.value == "1'")
        #expect(exchanges.values == ["1"])
    }

    @Test func `Requests that wait for a renewal don't delay others`() async throws {
        let (started, goOn) = (Latch(), Latch())
        var config = NetworkConfig()
        config.maxConcurrentRequestsPerOrigin = 1
        let refresh = slow(try await storage(), started, goOn)
        let provider = NetworkProvider(
            config: config, session: server(["1'", "public"]),
            interceptor: InterceptorChain([refresh]))
        let request = try request()
        let waiting = (0..<5).map { _ in Task { try await provider.send(request).status } }
        await started.wait()
        // The only slot is free: waiting requests hold none.
        let slot = try await DispatchSlots(limit: 1).acquire(for: request.origin, until: nil)
        slot.release()
        let open = Task {
            try await RenewalContext.$renewals.withValue([
                Renewal(of: ObjectIdentifier(refresh.coordinator), TokenVersion(number: 0))
            ]) {
                try await provider.send(request).status
            }
        }
        #expect(try await open.value == 401)
        goOn.set()
        for task in waiting { #expect(try await task.value == 200) }
    }

    @Test func `The strategy's own requests through the same provider don't wait for it`() async throws {
        let storage = try await storage()
        let transport = TestTransport { _, request in
            request.target == "/refresh" || Self.token(of: request) == "2" ? 200 : 401
        }
        let box = Box<NetworkProvider>()
        let interceptor = interceptor(storage) { _ in
            let provider = try #require(box.value.withLock { $0 })
            let response = try await provider.send(HTTPRequest(.post, "http://h/refresh"))
            #expect(response.status == 200)
            return Token(value: "2")
        }
        var config = NetworkConfig()
        config.maxConcurrentRequestsPerOrigin = 1
        let provider = NetworkProvider(config: config, session: transport, interceptor: interceptor)
        box.value.withLock { $0 = provider }
        // The strategy holds the box, and the provider the strategy.
        defer { box.value.withLock { $0 = nil } }
        #expect(try await provider.send(request()).status == 200)
        #expect(transport.sent.map(\.target) == ["/p", "/refresh", "/p"])
        #expect(tokens(transport) == ["1", "1", "2"])
    }

    private final class Box<Value: Sendable>: Sendable {
        let value = Locked<Value?>(nil)
    }
}

/// Tests which requests the interceptor applies to.
extension AuthenticationInterceptorTests {
    @Test func `A request that the interceptor doesn't apply to carries no token, and its 401 renews none`() async throws {
        let transport = server([])
        let interceptor = interceptor(try await storage(), shouldAuthenticate: { $0.target.hasPrefix("/api/") })
        #expect(try await NetworkProvider(session: transport, interceptor: interceptor).send(request()).status == 401)
        #expect(tokens(transport) == [nil])
        #expect(exchanges.values.isEmpty)
    }

    @Test func `A 401 of another origin, after a redirect, says nothing about the token`() async throws {
        let server = try RawServer.responding("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n")
        let first = try RawServer.responding(
            "HTTP/1.1 307 There\r\nLocation: \(server.url)/\r\nContent-Length: 0\r\n\r\n")
        let provider = NetworkProvider(session: CurlSession(), interceptor: interceptor(try await storage()))
        #expect(try await provider.send(HTTPRequest(.get, first.url)).status == 401)
        #expect(exchanges.values.isEmpty)
    }

    @Test func `Two services in one chain each renew their own`() async throws {
        let transport = TestTransport { _, request in Self.token(of: request)?.hasSuffix("'") == true ? 200 : 401 }
        let storages = ["a", "b"].map { TokenStorage<Token>(storage: memory, key: StorageKey(value: $0)) }
        for storage in storages { try await storage.save(Token(value: "1")) }
        let chain = InterceptorChain(
            zip(["a", "b"], storages).map { host, storage in
                interceptor(storage, shouldAuthenticate: { $0.origin.host == host })
            })
        let provider = NetworkProvider(session: transport, interceptor: chain)
        #expect(try await provider.send(request(host: "b")).status == 200)
        #expect(try await storages[0].load()?.value == "1")
        #expect(try await storages[1].load()?.value == "1'")
        #expect(exchanges.values == ["1"])
    }

    @Test func `Two storages over the same one renew together`() async throws {
        let (started, goOn) = (Latch(), Latch())
        let transport = server(["1'"])
        _ = try await storage()
        let providers = (0..<2).map { _ in
            NetworkProvider(
                session: transport, interceptor: slow(TokenStorage<Token>(storage: memory), started, goOn))
        }
        let request = try request()
        let tasks = providers.map { provider in Task { try await provider.send(request).status } }
        await started.wait()
        goOn.set()
        for task in tasks { #expect(try await task.value == 200) }
        #expect(exchanges.values == ["1"])
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
