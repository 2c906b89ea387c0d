// Routes: `builder.boundaryString`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let text: String = MultipartFormDataBuilder(boundary: "shop-1").boundaryString
    print(text)
}
