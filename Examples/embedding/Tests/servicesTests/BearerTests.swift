import Foundation
import NevodHostFoundation
import Testing

@testable import services

/// A refresh strategy that calls one of the program's services, which is missing here.
struct BearerTests {
    private struct RefreshResponse {
        let accessToken: String
    }

    private struct RefreshService {
        func refresh(_ old: String) async throws -> RefreshResponse { RefreshResponse(accessToken: old + "er") }
    }

    private let me = SimpleGetRoute<EmptyResponse, AppDomains>(endpoint: "/users/me", domain: .mainAPI)

    @Test func `A bearer token is renewed by the program's own service`() async throws {
        let authService = RefreshService()
        let token = Token(value: "old")

        let storage = TokenStorage<Token>(storage: InMemoryStorage())
        try await storage.save(token)

        let authInterceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { oldToken in
                guard let oldToken = oldToken else {
                    throw NetworkError.unauthorized
                }

                let response: RefreshResponse = try await authService.refresh(oldToken.value)
                return Token(value: response.accessToken)
            }
        )

        let provider = NetworkProvider(
            config: config, session: Accepting(name: "Authorization", value: "Bearer older"), interceptor: authInterceptor)
        _ = try await provider.perform(me)
        #expect(try await storage.load() == Token(value: "older"))
    }

    @Test func `A refused grant logs out`() async throws {
        let storage = TokenStorage<Token>(storage: InMemoryStorage())
        try await storage.save(Token(value: "old"))
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage, refreshStrategy: { _ in throw RefreshRejectedError("the session was ended elsewhere") })
        let provider = NetworkProvider(
            config: config, session: Accepting(name: "Authorization", value: "another"), interceptor: interceptor)
        await #expect(throws: NetworkError.unauthorized) { try await provider.perform(me) }
        #expect(try await storage.load() == nil)
    }

    @Test func `Only what a token is for carries it`() async throws {
        let storage = TokenStorage<Token>(storage: InMemoryStorage())
        try await storage.save(Token(value: "secret"))
        let refreshStrategy: @Sendable (Token?) async throws -> Token = { _ in throw NetworkError.unauthorized }
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: refreshStrategy,
            shouldAuthenticate: { request in
                // Only authenticate /api/* endpoints
                request.url?.path.hasPrefix("/api/") ?? false
            }
        )
        let provider = NetworkProvider(
            config: config, session: Accepting(name: "Authorization", value: "Bearer secret"), interceptor: interceptor)
        for (endpoint, isAllowed) in [("/api/users", true), ("/users", false)] {
            let result = await provider.request(SimpleGetRoute<EmptyResponse, AppDomains>(endpoint: endpoint, domain: .mainAPI))
            #expect(((try? result.get()) != nil) == isAllowed)
        }
    }
}
