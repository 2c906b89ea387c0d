// NetworkProvider: `URLSessionProtocol (test double)`
import Foundation
import NevodHostFoundation

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private func config() -> NetworkConfig {
    NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])
}

private struct Scripted: URLSessionProtocol {
    func requestData(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        throw URLError(.notConnectedToInternet)
    }
}

private func use() async throws {
    let provider = NetworkProvider(config: config(), session: Scripted())
    print(provider)
}
