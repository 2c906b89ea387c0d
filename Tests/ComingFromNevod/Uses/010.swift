// Token / TokenModel: `APIKeyToken is Codable`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let data: Data = try JSONEncoder().encode(APIKeyToken(apiKey: "abc"))
    let token = try JSONDecoder().decode(APIKeyToken.self, from: data)
    print(token.headerName)
}
