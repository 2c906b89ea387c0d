// TokenStorage: `await storage.load() without try (guides)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private let storage = TokenStorage<Token>(storage: InMemoryStorage())

    private func use() async throws {
        let isKnown = await storage.load() != nil
        print(isKnown)
    }
#else
    private let storage = TokenStorage<Token>(storage: InMemoryStorage())

    private func use() async throws {
        let isKnown = try await storage.load() != nil
        print(isKnown)
    }
#endif
