// NetworkConfig: `config.environment(for:) -> Result`
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
    let found: Result<any NetworkEnvironmentProviding, NetworkError> = config().environment(for: Shop.api)
    let environment = try config().environment(for: Shop.api).get()
    print(found, environment)
}
