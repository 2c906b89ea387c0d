// NetworkConfig: `SimpleEnvironment(baseURL: URL).baseURL: URL`
import Foundation
import NevodHostFoundation

private func shop() throws -> URL {
    guard let url = URL(string: "https://shop.example/v1") else { throw NetworkError.invalidURL }
    return url
}

private func use() async throws {
    let environment = SimpleEnvironment(baseURL: try shop())
    let url: URL = environment.baseURL
    print(url, environment.baseURL.host ?? "", environment.baseURL == url)
}
