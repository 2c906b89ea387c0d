// Adding New Authentication Types: 3. API Key in Header
import Foundation
import NevodHostFoundation

private func use() async throws {
    let token = APIKeyToken(apiKey: "abc", headerName: "X-Shop-Key")
    print(token)
}
