// Routes: `ServiceDomain conformance`
import Foundation
import NevodHostFoundation

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private func use() async throws {
    print(Shop.api.identifier)
}
