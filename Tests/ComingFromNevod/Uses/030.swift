// TokenStorage: `await storage.save(token) without try (guides)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private let storage = TokenStorage<Token>(storage: InMemoryStorage())

    private func use() async throws {
        await storage.save(Token(value: "abc"))
    }
#else
    private let storage = TokenStorage<Token>(storage: InMemoryStorage())

    private func use() async throws {
        try await storage.save(Token(value: "abc"))
    }
#endif
