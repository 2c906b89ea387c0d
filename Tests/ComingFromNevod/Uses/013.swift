// Token / TokenModel: `QueryAPIKeyToken is Codable`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let data: Data = try JSONEncoder().encode(QueryAPIKeyToken(apiKey: "abc"))
    let token = try JSONDecoder().decode(QueryAPIKeyToken.self, from: data)
    print(token.paramName)
}
