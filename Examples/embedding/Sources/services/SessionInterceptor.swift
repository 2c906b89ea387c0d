import Foundation
import NevodHostFoundation

/// An interceptor with a state of its own: concurrent requests share one login.
actor SessionInterceptor: RequestInterceptor {
    private var cookies: CookieToken?
    private var loginTask: Task<CookieToken, any Error>?
    private let loginStrategy: @Sendable () async throws -> CookieToken

    init(loginStrategy: @escaping @Sendable () async throws -> CookieToken) {
        self.loginStrategy = loginStrategy
    }

    func adapt(_ request: URLRequest) async throws -> URLRequest {
        var request = request
        for cookie in cookies?.sessionCookies ?? [] {
            request.setValue("\(cookie.name)=\(cookie.value)", forHTTPHeaderField: "Cookie")
        }
        return request
    }

    func retry(_ request: URLRequest, response: HTTPURLResponse?, error: NetworkError) async throws -> Bool {
        guard case .unauthorized = error else { return false }

        // A second 401 is final.
        guard Exchange.current?.attempt == 1 else { return false }
        cookies = try await loginIfNeeded()
        return true
    }

    private func loginIfNeeded() async throws -> CookieToken {
        if let loginTask { return try await loginTask.value }
        let task = Task { try await loginStrategy() }
        loginTask = task
        defer { loginTask = nil }
        return try await task.value
    }
}

func ownInterceptor() async throws {
    let interceptor = SessionInterceptor(loginStrategy: {
        guard let cookie = Cookie(name: "session_id", value: "abc123", domain: "legacy.example.com") else {
            throw NetworkError.unauthorized
        }
        return CookieToken(sessionCookies: [cookie])
    })
    let provider = NetworkProvider(config: config, interceptor: interceptor)
    let orders = SimpleGetRoute<Verified, AppDomains>(endpoint: "/orders", domain: .legacyAPI)
    print("own interceptor: \(try await provider.perform(orders).scheme)")
}
