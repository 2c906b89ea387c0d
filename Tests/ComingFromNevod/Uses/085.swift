// NetworkProvider: `quick(... rateLimit: before retryPolicy:)`
import Foundation
import NevodHostFoundation

private func shop() throws -> URL {
    guard let url = URL(string: "https://shop.example/v1") else { throw NetworkError.invalidURL }
    return url
}

private func use() async throws {
    let provider = NetworkProvider.quick(
        baseURL: try shop(), rateLimit: RateLimitConfiguration(requests: 5, perInterval: 1), retryPolicy: .conservative)
    print(provider)
}
