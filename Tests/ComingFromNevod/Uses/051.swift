// Interceptors: `CookieAuthenticationInterceptor(cookieStorage:loginStrategy:shouldAuthenticate:)`
import Foundation
import NevodHostFoundation

private let cookies = TokenStorage<CookieToken>(storage: InMemoryStorage())

private func use() async throws {
    let interceptor = CookieAuthenticationInterceptor(
        cookieStorage: cookies, loginStrategy: { CookieToken(sessionCookies: []) },
        shouldAuthenticate: { $0.url?.host == "shop.example" })
    print(interceptor)
}
