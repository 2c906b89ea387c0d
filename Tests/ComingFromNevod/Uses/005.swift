// Token / TokenModel: `Token.encode() -> Data`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let data: Data = try Token(value: "abc").encode()
    print(data.count)
}
