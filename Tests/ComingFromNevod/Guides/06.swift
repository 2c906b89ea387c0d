// Adding New Authentication Types: 4. API Key in Query Parameter
import Foundation
import NevodHostFoundation

private func use() async throws {
    let token = QueryAPIKeyToken(apiKey: "abc", paramName: "shop_key")
    print(token)
}
