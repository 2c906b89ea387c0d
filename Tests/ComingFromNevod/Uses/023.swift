// TokenStorage: `TokenStorage(storage:key:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let storage = TokenStorage<APIKeyToken>(storage: InMemoryStorage(), key: StorageKey(value: "shop"))
    print(storage)
}
