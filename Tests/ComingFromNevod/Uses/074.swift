// NetworkProvider: `NetworkProvider(config:session: URLSession.shared)`
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
    print(NetworkProvider(config: config(), session: URLSession.shared))
}
