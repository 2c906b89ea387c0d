// TokenStorage: `try await storage.load()`
import Foundation
import NevodHostFoundation

private let storage = TokenStorage<Token>(storage: InMemoryStorage())

private func use() async throws {
    let token: Token? = try await storage.load()
    print(token == nil)
}
