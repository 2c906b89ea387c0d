// Adding New Authentication Types: Multiple Services with Different Auth
import Foundation
import NevodHostFoundation

extension StorageKey {
    fileprivate static let basket = StorageKey(value: "basket")
    fileprivate static let supplier = StorageKey(value: "supplier")
}

private func renewed(_ token: Token?) async throws -> Token { Token(value: "new") }
private func loggedIn() async throws -> CookieToken { CookieToken(sessionCookies: []) }

private let drawer = InMemoryStorage()

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

private actor Shops {
    lazy var mainProvider: NetworkProvider = {
        let storage = TokenStorage<Token>(storage: drawer, key: .token)
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { try await renewed($0) }
        )
        return NetworkProvider(config: config, interceptor: interceptor)
    }()

    lazy var basketProvider: NetworkProvider = {
        let storage = TokenStorage<CookieToken>(storage: drawer, key: .basket)
        let interceptor = CookieAuthenticationInterceptor(
            cookieStorage: storage,
            loginStrategy: { try await loggedIn() }
        )
        return NetworkProvider(config: config, interceptor: interceptor)
    }()

    lazy var supplierProvider: NetworkProvider = {
        let storage = TokenStorage<APIKeyToken>(storage: drawer, key: .supplier)
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { $0! }
        )
        return NetworkProvider(config: config, interceptor: interceptor)
    }()
}
