// Routes: `FormDataPart.data`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let data: Data = FormDataPart(name: "name", value: "tea").data
    print(data.count)
}
