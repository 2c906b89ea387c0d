import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// `NetworkProvider.with(interceptors:session:)`.
struct DerivedProviderTests {
    private struct Mark: RequestInterceptor {
        let name: String
        var phase = TokenPhase.credential
        func adapt(_ exchange: inout Exchange) async throws { try exchange.request.addHeader("X-Mark", name) }
    }

    private struct CountingLimiter: RateLimiting {
        let count = Collected<Int>()
        func acquire() async throws { count.append(1) }
    }

    private func request() throws -> HTTPRequest { try HTTPRequest(.get, "http://h/p") }

    @Test func `Its interceptors come first, its signatures after all others`() async throws {
        let (transport, other) = (TestTransport(), TestTransport())
        let provider = NetworkProvider(session: transport, interceptor: InterceptorChain([Mark(name: "own")]))
        let derived = provider.with(
            interceptors: [Mark(name: "signature", phase: .signature), Mark(name: "more")], session: other)
        _ = try await derived.send(request())
        _ = try await provider.send(request())
        _ = try await provider.with().send(request())
        #expect(other.sent.map { $0.headers.values(of: "X-Mark") } == [["more", "own", "signature"]])
        #expect(transport.sent.map { $0.headers.values(of: "X-Mark") } == [["own"], ["own"]])
    }

    @Test func `It shares the budget of retries and the rate limit`() async throws {
        let (transport, limiter) = (TestTransport { _, _ in 503 }, CountingLimiter())
        var config = NetworkConfig(environments: [DefaultDomain.default: SimpleEnvironment(baseURL: "http://h")])
        config.retryPolicy = RetryPolicy(maxAttempts: 2, baseDelay: .zero)
        let provider = NetworkProvider(config: config, session: transport, rateLimiter: limiter)
        for _ in 0..<60 { _ = try await provider.with(interceptors: [Mark(name: "one")]).send(request()) }
        // 10 in reserve, one for ten requests, and refills in the meantime. With separate budgets, there would be 60.
        #expect((60...90).contains(transport.sent.count) && limiter.count.values.count == transport.sent.count)
    }

    @Test func `It shares the slots of an origin`() async throws {
        /// Counts concurrent transfers.
        final class Busy: HTTPTransport {
            let state = LockedPair()
            let limiter: CountingLimiter

            init(_ limiter: CountingLimiter) { self.limiter = limiter }

            func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
                state.enter()
                // Wait until the other request has passed the rate limit and waits for a slot.
                _ = await eventually { limiter.count.values.count == 2 }
                for _ in 0..<200 { await Task.yield() }
                state.leave()
                return HTTPResponse(version: .http11, status: 200, reason: "", headers: HTTPHeaders(), body: .bytes([]))
            }
        }
        let limiter = CountingLimiter()
        let transport = Busy(limiter)
        var config = NetworkConfig(environments: [DefaultDomain.default: SimpleEnvironment(baseURL: "http://h")])
        config.maxConcurrentRequestsPerOrigin = 1
        let provider = NetworkProvider(config: config, session: transport, rateLimiter: limiter)
        async let first = provider.send(request())
        async let second = provider.with(interceptors: [Mark(name: "one")]).send(request())
        _ = try await (first, second)
        #expect(transport.state.most == 1)
    }
}

/// The current number and the maximum.
private final class LockedPair: Sendable {
    private let state = Collected<Int>()

    func enter() { state.append(1) }
    func leave() { state.append(-1) }
    var most: Int {
        var (now, most) = (0, 0)
        for change in state.values {
            now += change
            most = max(most, now)
        }
        return most
    }
}
