// Authentication Guide: 1. Bearer Token
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private struct Issued: Decodable, Sendable {
        let accessToken: String
    }

    private struct AuthService {
        func renew(_ old: String) async throws -> Issued { Issued(accessToken: old + "+") }
    }

    private let authService = AuthService()

    private let drawer = InMemoryStorage()

    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

    private func use() async throws {
        let token = Token(value: "abc")
        let storage = TokenStorage<Token>(storage: drawer)
        await storage.save(token)
        let authInterceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { oldToken in
                guard let oldToken = oldToken else {
                    throw NetworkError.unauthorized
                }
                let issued: Issued = try await authService.renew(oldToken.value)
                return Token(value: issued.accessToken)
            }
        )
        let provider = NetworkProvider(config: config, interceptor: authInterceptor)
        print(provider)
    }
#else
    private struct Issued: Decodable, Sendable {
        let accessToken: String
    }

    private struct AuthService {
        func renew(_ old: String) async throws -> Issued { Issued(accessToken: old + "+") }
    }

    private let authService = AuthService()

    private let drawer = InMemoryStorage()

    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

    private func use() async throws {
        let token = Token(value: "abc")
        let storage = TokenStorage<Token>(storage: drawer)
        try await storage.save(token)
        let authInterceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { oldToken in
                guard let oldToken = oldToken else {
                    throw NetworkError.unauthorized
                }
                let issued: Issued = try await authService.renew(oldToken.value)
                return Token(value: issued.accessToken)
            }
        )
        let provider = NetworkProvider(config: config, interceptor: authInterceptor)
        print(provider)
    }
#endif
