// TokenStorage: `TokenStorage(storage: any KeyValueStorage)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let store: any KeyValueStorage = InMemoryStorage()
    let storage = TokenStorage<Token>(storage: store)
    print(storage)
}
