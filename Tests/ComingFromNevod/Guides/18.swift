// README: Multiple Interceptors
import Foundation
import NevodHostFoundation

private let logger = NevodLogger()
private let storage = TokenStorage<Token>(storage: InMemoryStorage())
private let refreshBlock: @Sendable (Token?) async throws -> Token = { _ in throw NetworkError.unauthorized }

private let drawer = InMemoryStorage()

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

private func use() async throws {
    let provider = NetworkProvider(
        config: config,
        interceptor: InterceptorChain([
            LoggingInterceptor(logger: logger, logLevel: .verbose),
            HeadersInterceptor(headers: ["User-Agent": "Shop/1.0"]),
            AuthenticationInterceptor(tokenStorage: storage, refreshStrategy: refreshBlock),
        ])
    )
    print(provider)
}
