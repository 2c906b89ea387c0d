// Token / TokenModel: `Token.decode(from: Data)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let stored = Data("abc".utf8)
    let token = try Token.decode(from: stored)
    print(token.value.count)
}
