// Errors: `.missingEnvironment(domain:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let error = NetworkError.missingEnvironment(domain: "shop")
    print(error)
}
