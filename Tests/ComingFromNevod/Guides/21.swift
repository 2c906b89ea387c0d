// Authentication Guide: 3. API Key (Header)
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private let drawer = InMemoryStorage()

    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

    private func use() async throws {
        let apiKeyToken = APIKeyToken(
            apiKey: "abc",
            headerName: "X-Shop-Key"
        )
        let storage = TokenStorage<APIKeyToken>(storage: drawer)
        await storage.save(apiKeyToken)
        let authInterceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in
                throw NetworkError.unauthorized
            }
        )
        let provider = NetworkProvider(config: config, interceptor: authInterceptor)
        print(provider)
    }
#else
    private let drawer = InMemoryStorage()

    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

    private func use() async throws {
        let apiKeyToken = APIKeyToken(
            apiKey: "abc",
            headerName: "X-Shop-Key"
        )
        let storage = TokenStorage<APIKeyToken>(storage: drawer)
        try await storage.save(apiKeyToken)
        let authInterceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in
                throw NetworkError.unauthorized
            }
        )
        let provider = NetworkProvider(config: config, interceptor: authInterceptor)
        print(provider)
    }
#endif
