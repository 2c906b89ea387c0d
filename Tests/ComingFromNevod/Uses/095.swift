// NetworkProvider: `upload(_:fieldName:filename:fileData:mimeType:)`
import Foundation
import NevodHostFoundation

private func provider() -> NetworkProvider {
    NetworkProvider.quick(baseURL: "https://shop.example")
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let item: Item = try await provider().upload(
        "/labels", fieldName: "label", filename: "a.pdf", fileData: Data([1]), mimeType: "application/pdf")
    print(item)
}
