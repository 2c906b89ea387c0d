// Adding New Authentication Types: Example: Custom Interceptor for Cookie Auth
import Foundation
import NevodHostFoundation

public actor BasketInterceptor: RequestInterceptor {
    private var loginTask: Task<CookieToken, Error>?
    private let loginStrategy: @Sendable () async throws -> CookieToken

    init(loginStrategy: @escaping @Sendable () async throws -> CookieToken) {
        self.loginStrategy = loginStrategy
    }

    public func retry(_ request: URLRequest, response: HTTPURLResponse?, error: NetworkError) async throws -> Bool {
        guard case .unauthorized = error else { return false }
        _ = try await loginIfNeeded()
        return true
    }

    private func loginIfNeeded() async throws -> CookieToken {
        let strategy = loginStrategy
        let task = loginTask ?? Task { try await strategy() }
        loginTask = task
        return try await task.value
    }
}
