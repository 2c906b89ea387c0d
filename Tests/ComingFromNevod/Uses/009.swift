// Token / TokenModel: `APIKeyToken.apiKey/.headerName`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let token = APIKeyToken(apiKey: "abc", headerName: "X-Shop-Key")
    let parts: [String] = [token.apiKey, token.headerName]
    print(parts.count)
}
