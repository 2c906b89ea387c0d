// TokenStorage: `try await storage.save(token)`
import Foundation
import NevodHostFoundation

private let storage = TokenStorage<Token>(storage: InMemoryStorage())

private func use() async throws {
    try await storage.save(Token(value: "abc"))
}
