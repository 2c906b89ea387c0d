// Token / TokenModel: `Token.value is var`
import Foundation
import NevodHostFoundation

private func use() async throws {
    var token = Token(value: "abc")
    token.value = "def"
}
