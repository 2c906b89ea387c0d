// TokenStorage: `TokenStorage<Token>(storage:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let storage = TokenStorage<Token>(storage: InMemoryStorage())
    print(storage)
}
