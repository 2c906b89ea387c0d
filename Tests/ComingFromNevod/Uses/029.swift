// TokenStorage: `await storage.clear() (guides only)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private let storage = TokenStorage<Token>(storage: InMemoryStorage())

    private func use() async throws {
        await storage.clear()
    }
#else
    private let storage = TokenStorage<Token>(storage: InMemoryStorage())

    private func use() async throws {
        try await storage.clear()
    }
#endif
