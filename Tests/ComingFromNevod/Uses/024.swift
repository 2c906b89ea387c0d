// TokenStorage: `TokenStorage(storage:key:onError:)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private func use() async throws {
        let storage = TokenStorage<Token>(storage: InMemoryStorage(), key: .token, onError: { error in print(error) })
        print(storage)
    }
#else
    private func use() async throws {
        let storage = TokenStorage<Token>(storage: InMemoryStorage(), key: .token)
        do { _ = try await storage.load() } catch { print(error) }
    }
#endif
