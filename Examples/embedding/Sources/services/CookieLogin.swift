import Foundation
import NevodHostFoundation

func cookieInterceptor(
    keychain: some KeyValueStorage, email: String, password: String
) -> CookieAuthenticationInterceptor {
    let cookieStorage = TokenStorage<CookieToken>(storage: keychain, key: .cookies)

    return CookieAuthenticationInterceptor(
        cookieStorage: cookieStorage,
        loginStrategy: {
            let credentials = ["email": email, "password": password]
            guard let loginURL = URL(string: "http://legacy.example.com/login") else { throw NetworkError.invalidURL }

            var request = URLRequest(url: loginURL)
            request.httpMethod = "POST"
            request.httpBody = try JSONEncoder().encode(credentials)

            let (_, response) = try await URLSession.shared.data(for: request)

            guard let httpResponse = response as? HTTPURLResponse, httpResponse.statusCode == 200 else {
                throw NetworkError.unauthorized
            }
            let cookies = HTTPCookie.cookies(
                withResponseHeaderFields: httpResponse.allHeaderFields as? [String: String] ?? [:], for: loginURL)
            return CookieToken(sessionCookies: cookies)
        },
        shouldAuthenticate: { $0.url?.host == "legacy.example.com" }
    )
}
