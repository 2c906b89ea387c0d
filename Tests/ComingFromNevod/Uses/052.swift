// Interceptors: `... cookie maxRetryAttempts:/retryBackoff:`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private let cookies = TokenStorage<CookieToken>(storage: InMemoryStorage())

    private func use() async throws {
        let interceptor = CookieAuthenticationInterceptor(
            cookieStorage: cookies, loginStrategy: { CookieToken(sessionCookies: []) }, maxRetryAttempts: 1, retryBackoff: 0.5)
        print(interceptor)
    }
#else
    private let cookies = TokenStorage<CookieToken>(storage: InMemoryStorage())

    private func use() async throws {
        let interceptor = CookieAuthenticationInterceptor(
            cookieStorage: cookies, loginStrategy: { CookieToken(sessionCookies: []) })
        print(interceptor)
    }
#endif
