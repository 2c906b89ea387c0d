// NetworkProvider: `NetworkProvider(config:session:interceptor:rateLimiter:logger:) all nil`
import Foundation
import NevodHostFoundation

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private func config() -> NetworkConfig {
    NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])
}

private func use() async throws {
    let provider = NetworkProvider(
        config: config(), session: URLSession.shared, interceptor: nil, rateLimiter: nil, logger: nil)
    print(provider)
}
