// Token / TokenModel: `CookieToken.encode() -> Data`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let data: Data = try CookieToken(sessionCookies: []).encode()
    let token = try CookieToken.decode(from: data)
    print(token)
}
