// NetworkProvider: `quick(... rateLimiter:)`
import Foundation
import NevodHostFoundation

private func shop() throws -> URL {
    guard let url = URL(string: "https://shop.example/v1") else { throw NetworkError.invalidURL }
    return url
}

private func use() async throws {
    let limiter = RateLimiter(configuration: RateLimitConfiguration(requests: 5, perInterval: 1))
    print(NetworkProvider.quick(baseURL: try shop(), rateLimiter: limiter))
}
