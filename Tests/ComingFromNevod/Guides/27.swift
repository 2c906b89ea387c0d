// Authentication Guide: Login Flow Example
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private struct LoginResponse: Decodable, Sendable {
        let accessToken: String
    }

    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private class AuthService {
        private let provider: NetworkProvider
        private let tokenStorage: TokenStorage<Token>

        init(provider: NetworkProvider, tokenStorage: TokenStorage<Token>) {
            self.provider = provider
            self.tokenStorage = tokenStorage
        }

        func login(email: String, password: String) async throws {
            let route = SimplePostRoute<LoginResponse, Shop>(
                endpoint: "/login",
                domain: .api,
                parameters: ["email": email, "password": password]
            )
            let response = try await provider.perform(route)
            let token = Token(value: response.accessToken)
            await tokenStorage.save(token)
        }

        func logout() async {
            await tokenStorage.clear()
        }

        func isAuthenticated() async -> Bool {
            await tokenStorage.load() != nil
        }
    }
#else
    private struct LoginResponse: Decodable, Sendable {
        let accessToken: String
    }

    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private class AuthService {
        private let provider: NetworkProvider
        private let tokenStorage: TokenStorage<Token>

        init(provider: NetworkProvider, tokenStorage: TokenStorage<Token>) {
            self.provider = provider
            self.tokenStorage = tokenStorage
        }

        func login(email: String, password: String) async throws {
            let route = SimplePostRoute<LoginResponse, Shop>(
                endpoint: "/login",
                domain: .api,
                parameters: ["email": email, "password": password]
            )
            let response = try await provider.perform(route)
            let token = Token(value: response.accessToken)
            try await tokenStorage.save(token)
        }

        func logout() async throws {
            try await tokenStorage.clear()
        }

        func isAuthenticated() async throws -> Bool {
            try await tokenStorage.load() != nil
        }
    }
#endif
