// NetworkProvider: `uploadImage(_:filename:imageData:imageType:)`
import Foundation
import NevodHostFoundation

private func provider() -> NetworkProvider {
    NetworkProvider.quick(baseURL: "https://shop.example")
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let item: Item = try await provider().uploadImage(
        "/photos", filename: "a.jpg", imageData: Data([1]), imageType: .jpeg)
    print(item)
}
