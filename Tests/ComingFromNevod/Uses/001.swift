// Token / TokenModel: `Token(value:).value`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let token = Token(value: "abc")
    let text: String = token.value
    print(text.count)
}
