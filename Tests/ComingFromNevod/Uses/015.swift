// Token / TokenModel: `CookieToken(sessionCookies: [HTTPCookie])`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let cookies: [HTTPCookie] = HTTPCookieStorage.shared.cookies ?? []
    let token = CookieToken(sessionCookies: cookies)
    print(token)
}
