// Routes: `MultipartRoute.uploadImage(...)`
import Foundation
import NevodHostFoundation

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let route = MultipartRoute<Item, Shop>.uploadImage(
        endpoint: "/photos", domain: .api, filename: "a.jpg", imageData: Data([1]), imageType: .png)
    print(route.endpoint)
}
