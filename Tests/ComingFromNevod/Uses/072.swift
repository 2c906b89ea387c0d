// NetworkConfig: `NetworkEnvironmentProviding with baseURL: URL`
import Foundation
import NevodHostFoundation

private func shop() throws -> URL {
    guard let url = URL(string: "https://shop.example/v1") else { throw NetworkError.invalidURL }
    return url
}

private struct Staging: NetworkEnvironmentProviding {
    let baseURL: URL
}

private func use() async throws {
    let environment: any NetworkEnvironmentProviding = Staging(baseURL: try shop())
    print(environment)
}
