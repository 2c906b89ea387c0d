import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Many requests that meet an expired token at once, over real HTTP.
@Suite(.serialized) struct RefreshStormTests {
    private struct Result {
        var statuses: [Int: Int] = [:]
        var failures: [NetworkError] = []
    }

    private func provider(
        _ server: RotatingServer, _ storage: TokenStorage<OAuthToken>, atATime: Int = 100
    ) -> NetworkProvider {
        let session = CurlSession()
        let exchanging = NetworkProvider(session: session)
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage, refreshStrategy: { try await server.refresh($0, exchanging) })
        var config = NetworkConfig()
        config.maxConcurrentRequestsPerOrigin = atATime
        // The last of 10,000 waits for all others, and a sanitizer makes each ten times slower.
        config.timeout = .seconds(900)
        return NetworkProvider(config: config, session: session, interceptor: interceptor)
    }

    private func send(_ count: Int, _ provider: NetworkProvider, _ server: RotatingServer) async throws -> Result {
        await withTaskGroup { group in
            for _ in 0..<count {
                group.addTask { () async -> Swift.Result<Int, NetworkError> in
                    do throws(NetworkError) {
                        let request: HTTPRequest
                        do { request = try HTTPRequest(.get, "\(server.url)/api") } catch { throw NetworkError.invalidURL }
                        return .success(try await provider.send(request).status)
                    } catch {
                        return .failure(error)
                    }
                }
            }
            var result = Result()
            for await outcome in group {
                switch outcome {
                case .success(let status): result.statuses[status, default: 0] += 1
                case .failure(let error): result.failures.append(error)
                }
            }
            return result
        }
    }

    private func stored() async throws -> TokenStorage<OAuthToken> {
        let storage = TokenStorage<OAuthToken>(storage: InMemoryStorage())
        try await storage.save(RotatingServer.first)
        return storage
    }

    @Test(arguments: [UInt32(0), 500_000])
    func `10,000 requests with an expired token: one exchange, all succeed`(latency: UInt32) async throws {
        let server = try RotatingServer(latency: latency)
        let storage = try await stored()
        let atATime = latency == 0 ? 100 : 250
        let result = try await send(10_000, provider(server, storage, atATime: atATime), server)
        #expect(result.statuses == [200: 10_000])
        #expect(result.failures.isEmpty)
        #expect(server.count.exchanges == 1)
        #expect(server.count.accepted == 10_000)
        // Only the requests in flight at the first refusal are sent twice.
        #expect(server.count.api <= 10_000 + atATime)
        #expect(try await storage.load()?.accessToken == "access-2")
    }

    @Test func `A renewal that fails for now reaches each waiting request once, and the next one recovers`() async throws {
        let server = try RotatingServer()
        server.fail(with: [RotatingServer.response(503, "later")])
        let storage = try await stored()
        let provider = provider(server, storage)
        let result = try await send(10_000, provider, server)
        // A request that arrived after the failure, if any, started a new renewal, so the rest succeeded.
        let came = result.failures.count < 10_000
        #expect(server.count.exchanges == (came ? 2 : 1))
        #expect(result.failures.count + result.statuses[200, default: 0] == 10_000)
        #expect(!result.failures.isEmpty)
        #expect(result.failures.allSatisfy { $0 == .authenticationFailed })
        #expect(try await storage.load() != nil)
        #expect(try await send(1, provider, server).statuses == [200: 1])
        #expect(server.count.exchanges == 2)
        #expect(server.count.reuses == 0)
    }

    @Test func `A refused renewal clears the token once`() async throws {
        let server = try RotatingServer()
        server.fail(with: [RotatingServer.response(400, #"{"error":"invalid_grant"}"#)])
        let storage = try await stored()
        let changes = storage.changes
        let result = try await send(10_000, provider(server, storage), server)
        #expect(server.count.exchanges == 1)
        #expect(result.statuses[200] == nil)
        #expect(result.failures.allSatisfy { $0 == .unauthorized })
        #expect(try await storage.load() == nil)
        // Nothing was saved after the logout: a late reader sees only the last change.
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == .some(nil))
    }
}
