// Routes: `MultipartFormDataBuilder(boundary:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let form = MultipartFormDataBuilder(boundary: "shop-1")
    print(form)
}
