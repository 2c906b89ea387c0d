extension TokenStorage {
    /// Whether the stored token is expired, or so close to its expiry that the next request will renew it first. False if no token
    /// is stored, or if the token has no expiry.
    ///
    /// - Throws: as ``TokenStorage/load()`` does.
    public func isDueForRenewal() async throws -> Bool {
        let stored = try await coordinator.read()
        return stored.token != nil && coordinator.isDue(stored.version)
    }
}
