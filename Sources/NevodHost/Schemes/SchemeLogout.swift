internal import NevodPluginABI
internal import NevodSupport

extension SchemeSession {
    /// Revokes the token at the server, if the scheme has a logout flow, and deletes it, even if the server fails. Does the same
    /// with the tokens for all sets of parameters.
    ///
    /// - Throws: the first error, after all tokens have been tried.
    public func logout() async throws {
        var result = Result<Void, any Error>.success(())
        do { try await logoutOfOneToken() } catch { result = .failure(error) }
        let sets: [ParameterSet]
        do { sets = try await storedSets() } catch {
            try result.get()
            throw error
        }
        for set in sets {
            do { try await session(for: set).logoutOfOneToken() } catch {
                if case .success = result { result = .failure(error) }
            }
        }
        try await forget(sets)
        try result.get()
    }

    private func logoutOfOneToken() async throws {
        let hasBegun = Locked(false)
        do {
            // A renewal in progress could otherwise store a valid token afterwards, which nothing would revoke.
            try await coordinator.withRenewalLock { _ in
                hasBegun.withLock { $0 = true }
                try await revoke()
            }
        } catch {
            if !hasBegun.withLock(\.self) { try await coordinator.write(nil) }
            throw error
        }
    }

    private func revoke() async throws {
        let stored: PluginToken?
        do { stored = try await coordinator.read().token } catch is UnreadableTokenError {
            return try await coordinator.write(nil)
        }
        guard let stored else { return }
        guard stored.purpose == instance.purpose else { return try await coordinator.write(nil) }
        let result: Result<IssuedToken?, any Error>
        do {
            let driver = driver(for: nil)
            result = .success(try await driver.run(.logout, token: stored.issued, account: account, keep: { _ in }))
        } catch {
            result = .failure(error)
        }
        try await coordinator.write(nil)
        _ = try result.get()
    }
}
