// NetworkConfig: `... retryPolicy: nil`
import Foundation
import NevodHostFoundation

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private func shop() throws -> URL {
    guard let url = URL(string: "https://shop.example/v1") else { throw NetworkError.invalidURL }
    return url
}

private func use() async throws {
    let environments: [Shop: any NetworkEnvironmentProviding] = [.api: SimpleEnvironment(baseURL: try shop())]
    print(NetworkConfig(environments: environments, retryPolicy: nil))
}
