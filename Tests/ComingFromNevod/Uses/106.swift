// Routes: `ParameterEncoding .query/.json/.formUrlEncoded/.none`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let encodings: [ParameterEncoding] = [.query, .json, .formUrlEncoded, .none]
    print(encodings.count)
}
