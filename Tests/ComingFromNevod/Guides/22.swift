// Authentication Guide: 4. API Key (Query Parameter)
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
        let queryToken = QueryAPIKeyToken(
            apiKey: "abc",
            paramName: "shop_key"
        )
        let storage = TokenStorage<QueryAPIKeyToken>(storage: drawer)
        await storage.save(queryToken)
        let authInterceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in throw NetworkError.unauthorized }
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
        let queryToken = QueryAPIKeyToken(
            apiKey: "abc",
            paramName: "shop_key"
        )
        let storage = TokenStorage<QueryAPIKeyToken>(storage: drawer)
        try await storage.save(queryToken)
        let authInterceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in throw NetworkError.unauthorized }
        )
        let provider = NetworkProvider(config: config, interceptor: authInterceptor)
        print(provider)
    }
#endif
