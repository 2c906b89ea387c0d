// Token / TokenModel: `QueryAPIKeyToken(apiKey:paramName:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let token = QueryAPIKeyToken(apiKey: "abc", paramName: "key")
    print(token.paramName)
}
