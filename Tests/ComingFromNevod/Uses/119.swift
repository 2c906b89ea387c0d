// Routes: `MultipartRoute.uploadFile(endpoint:domain:fieldName:filename:fileData:mimeType:additionalFields:)`
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
    let route = MultipartRoute<Item, Shop>.uploadFile(
        endpoint: "/labels", domain: .api, fieldName: "label", filename: "a.pdf", fileData: Data([1]),
        mimeType: "application/pdf", additionalFields: ["name": "tea"])
    print(route.endpoint)
}
