// Token / TokenModel: `CookieToken.sessionCookies: [HTTPCookie]`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let token = CookieToken(sessionCookies: [])
    let cookies: [HTTPCookie] = token.sessionCookies
    for cookie in token.sessionCookies { print(cookie.name, cookie.domain, cookie.path) }
    HTTPCookieStorage.shared.setCookies(token.sessionCookies, for: nil, mainDocumentURL: nil)
    print(cookies.count)
}
