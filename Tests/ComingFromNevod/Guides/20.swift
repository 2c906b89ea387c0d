// Authentication Guide: 2. Cookie Authentication
// The guide binds the cookies by `if let`; they are not optional in Foundation, so that no compiler accepts it.
import Foundation
import NevodHostFoundation

private let drawer = InMemoryStorage()

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

private let (email, password) = ("ada@shop.example", "secret")

private func use() async throws {
    let cookieStorage = TokenStorage<CookieToken>(storage: drawer)
    let cookieInterceptor = CookieAuthenticationInterceptor(
        cookieStorage: cookieStorage,
        loginStrategy: {
            let credentials = ["email": email, "password": password]
            let loginURL = URL(string: "https://shop.example/login")!
            var request = URLRequest(url: loginURL)
            request.httpMethod = "POST"
            request.httpBody = try JSONEncoder().encode(credentials)
            let (_, response) = try await URLSession.shared.data(for: request)
            if let httpResponse = response as? HTTPURLResponse {
                let cookies = HTTPCookie.cookies(
                    withResponseHeaderFields: httpResponse.allHeaderFields as? [String: String] ?? [:],
                    for: loginURL)
                return CookieToken(sessionCookies: cookies)
            }
            throw NetworkError.unauthorized
        }
    )
    let provider = NetworkProvider(config: config, interceptor: cookieInterceptor)
    print(provider)
}
