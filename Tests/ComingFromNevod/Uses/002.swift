// Token / TokenModel: `Token is Codable`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let data: Data = try JSONEncoder().encode(Token(value: "abc"))
    let token = try JSONDecoder().decode(Token.self, from: data)
    print(token.value.count)
}
