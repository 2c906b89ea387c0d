// NetworkProvider: `NetworkProvider.quick(baseURL: URL)`
import Foundation
import NevodHostFoundation

private func shop() throws -> URL {
    guard let url = URL(string: "https://shop.example/v1") else { throw NetworkError.invalidURL }
    return url
}

private func use() async throws {
    print(NetworkProvider.quick(baseURL: try shop()))
}
