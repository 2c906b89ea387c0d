import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tokens with an expiry.
struct ExpiryTests {
    private let exchanges = Collected<String?>()

    /// - Parameter seconds: the time until the expiry.
    private func token(_ value: String, _ seconds: Int64) -> OAuthToken {
        OAuthToken(accessToken: value, refreshToken: "r", expiresAt: HostClock.system.now + .seconds(seconds))
    }

    private func send(
        _ token: OAuthToken, times: Int = 1, _ refresh: @escaping @Sendable (OAuthToken?) async throws -> OAuthToken
    ) async throws -> (tokens: [String?], errors: [NetworkError]) {
        let storage = TokenStorage<OAuthToken>(storage: InMemoryStorage())
        try await storage.save(token)
        let transport = TestTransport()
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { [exchanges] old in
                exchanges.append(old?.accessToken)
                return try await refresh(old)
            })
        let provider = NetworkProvider(session: transport, interceptor: interceptor)
        var errors: [NetworkError] = []
        for _ in 0..<times {
            do throws(NetworkError) { _ = try await provider.send(HTTPRequest(known: "http://h/")) } catch {
                errors.append(error)
            }
        }
        return (transport.sent.map { $0.headers["Authorization"] }, errors)
    }

    private struct Down: Error {}

    @Test func `An expired token is renewed before it is sent`() async throws {
        let (tokens, errors) = try await send(token("1", -1)) { _ in token("2", 3600) }
        #expect(tokens == ["Bearer 2"])
        #expect(errors.isEmpty)
    }

    @Test func `A token that has not expired is not renewed`() async throws {
        let (tokens, _) = try await send(token("1", 3600), times: 3) { _ in token("2", 3600) }
        #expect(tokens == ["Bearer 1", "Bearer 1", "Bearer 1"])
        #expect(exchanges.values.isEmpty)
    }

    @Test func `A token that was short-lived from the start is not renewed by every request`() async throws {
        let (tokens, _) = try await send(token("1", 20), times: 3) { _ in token("2", 20) }
        #expect(tokens == ["Bearer 1", "Bearer 1", "Bearer 1"])
    }

    @Test func `An expired token that can't be renewed for now is not sent`() async throws {
        let (tokens, errors) = try await send(token("1", -1)) { _ in throw Down() }
        #expect(tokens.isEmpty)
        #expect(errors == [.authenticationFailed])
    }

    @Test func `An expired token without a replacement is sent, after one attempt to renew it`() async throws {
        let (tokens, errors) = try await send(token("1", -1), times: 3) { _ in throw NetworkError.unauthorized }
        #expect(tokens == ["Bearer 1", "Bearer 1", "Bearer 1"])
        #expect(errors.isEmpty)
        #expect(exchanges.values == ["1"])
    }

    @Test func `A renewal before expiry has jitter; if it fails, it is postponed, and requests go on`() throws {
        let clock = HostClock { 1_000_000 * 1_000_000_000 }
        let coordinator = TokenCoordinator<OAuthToken>(AnyKeyValueStorage(InMemoryStorage()), .token, clock: clock)
        let end = UnixTime(seconds: 1_003_600)
        var memory = TokenMemory<OAuthToken>()
        var times: Set<Int64> = []
        for _ in 0..<200 {
            let time = try #require(coordinator.renewalTime(of: OAuthToken(accessToken: "1", expiresAt: end)))
            #expect((15_000_000_000...30_000_000_000).contains(end.nanoseconds - time.nanoseconds))
            times.insert(time.nanoseconds)
        }
        #expect(times.count > 100)
        memory.installWritten(OAuthToken(accessToken: "1", expiresAt: end), nil, renewal: end)
        memory.postponeRenewal(until: end + .seconds(5), of: memory.current.version)
        #expect(memory.renewal == end + .seconds(5))
        memory.postponeRenewal(until: nil, of: TokenVersion(number: 99))
        #expect(memory.renewal != nil)
    }

    @Test func `A custom token's expiresAt may be of any type of time`() {
        struct Optional: TokenModel {
            var expiresAt: UnixTime?
            func authorize(_ request: inout HTTPRequest) {}
            func encode() -> [UInt8] { [] }
            static func decode(from data: [UInt8]) -> Optional { Optional() }
        }
        #expect(Optional(expiresAt: UnixTime(seconds: 1)).expiresAt.unixTime == UnixTime(seconds: 1))
        #expect(Optional().expiresAt.unixTime == nil)
        #expect(Token(value: "").expiresAt.unixTime == nil)
    }
}

extension HTTPRequest {
    fileprivate init(known url: String) throws(NetworkError) {
        do { try self.init(.get, url) } catch { throw .invalidURL(error) }
    }
}
