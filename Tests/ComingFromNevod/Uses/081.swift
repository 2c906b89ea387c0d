// NetworkProvider: `URLSessionType`
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
    let session: any URLSessionProtocol = URLSessionType.shared
    print(NetworkProvider(config: config(), session: session))
}
