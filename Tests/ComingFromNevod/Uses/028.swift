// TokenStorage: `try await storage.save(nil)`
import Foundation
import NevodHostFoundation

private let storage = TokenStorage<Token>(storage: InMemoryStorage())

private func use() async throws {
    try await storage.save(nil)
}
