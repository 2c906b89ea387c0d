// Token / TokenModel: `APIKeyToken default header`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let token = APIKeyToken(apiKey: "abc")
    print(token.headerName)
}
