// NetworkConfig: `config.jsonEncoder/.jsonDecoder`
import Foundation
import NevodHostFoundation

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private func config() -> NetworkConfig {
    NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let data: Data = try config().jsonEncoder.encode(Item(id: 1))
    let item = try config().jsonDecoder.decode(Item.self, from: data)
    print(item)
}
