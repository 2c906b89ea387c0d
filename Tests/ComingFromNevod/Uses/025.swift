// TokenStorage: `TokenStorageError`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private func use() async throws {
        let storage = TokenStorage<Token>(storage: InMemoryStorage())
        do { _ = try await storage.load() } catch let error as TokenStorageError { print(error) }
    }
#else
    private func use() async throws {
        let storage = TokenStorage<Token>(storage: InMemoryStorage())
        do { _ = try await storage.load() } catch let error as StorageError { print(error) }
    }
#endif
