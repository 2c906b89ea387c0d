// NetworkProvider: `DefaultDomain.default`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let domain = DefaultDomain.default
    print(domain.identifier)
}
