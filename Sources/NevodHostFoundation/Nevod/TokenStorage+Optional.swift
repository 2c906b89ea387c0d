public import NevodHost

extension TokenStorage {
    /// Saves a token, or removes the stored one if nil; see `TokenStorage.clear()`.
    public func save(_ token: Token?) async throws {
        if let token { try await save(token) } else { try await clear() }
    }
}
