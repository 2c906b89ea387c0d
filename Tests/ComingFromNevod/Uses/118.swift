// Routes: `MultipartRoute(formData:)`
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
    var form = MultipartFormDataBuilder()
    form.addTextField(name: "name", value: "tea")
    let route = MultipartRoute<Item, Shop>(endpoint: "/labels", domain: .api, formData: form)
    print(route.endpoint)
}
