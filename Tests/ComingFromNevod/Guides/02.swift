// Adding New Authentication Types: Step 2: Use it!
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private let drawer = InMemoryStorage()

    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

    private struct PairToken: TokenModel {
        let shopID: String
        let shopSecret: String

        func authorize(_ request: inout URLRequest) {
            request.setValue(shopID, forHTTPHeaderField: "X-Shop-ID")
            request.setValue(shopSecret, forHTTPHeaderField: "X-Shop-Secret")
        }

        func encode() throws -> Data {
            try JSONEncoder().encode(["shop": shopID, "key": shopSecret])
        }

        static func decode(from data: Data) throws -> Self {
            let fields = try JSONDecoder().decode([String: String].self, from: data)
            return PairToken(shopID: fields["shop"] ?? "", shopSecret: fields["key"] ?? "")
        }
    }

    private func use() async throws {
        let storage = TokenStorage<PairToken>(storage: drawer, key: StorageKey(value: "pair_token"))
        await storage.save(PairToken(shopID: "a", shopSecret: "b"))
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { oldToken in
                guard let token = oldToken else {
                    throw NetworkError.unauthorized
                }
                return token
            }
        )
        let provider = NetworkProvider(config: config, interceptor: interceptor)
        let result = try await provider.perform(SimpleGetRoute<[String], Shop>(endpoint: "/shelves", domain: .api))
        print(result)
    }
#else
    private let drawer = InMemoryStorage()

    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

    private struct PairToken: TokenModel {
        let shopID: String
        let shopSecret: String

        func authorize(_ request: inout URLRequest) {
            request.setValue(shopID, forHTTPHeaderField: "X-Shop-ID")
            request.setValue(shopSecret, forHTTPHeaderField: "X-Shop-Secret")
        }

        func encode() throws -> Data {
            try JSONEncoder().encode(["shop": shopID, "key": shopSecret])
        }

        static func decode(from data: Data) throws -> Self {
            let fields = try JSONDecoder().decode([String: String].self, from: data)
            return PairToken(shopID: fields["shop"] ?? "", shopSecret: fields["key"] ?? "")
        }
    }

    private func use() async throws {
        let storage = TokenStorage<PairToken>(storage: drawer, key: StorageKey(value: "pair_token"))
        try await storage.save(PairToken(shopID: "a", shopSecret: "b"))
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { oldToken in
                guard let token = oldToken else {
                    throw NetworkError.unauthorized
                }
                return token
            }
        )
        let provider = NetworkProvider(config: config, interceptor: interceptor)
        let result = try await provider.perform(SimpleGetRoute<[String], Shop>(endpoint: "/shelves", domain: .api))
        print(result)
    }
#endif
