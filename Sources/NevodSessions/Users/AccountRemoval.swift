internal import NevodHost
internal import NevodStorage
internal import NevodSupport

/// Removes accounts with their sessions. The result of a renewal or a login that ends later is dropped, even if an account with the
/// same identifier was added meanwhile.
extension AccountSessions {
    /// Removes accounts from the list, and their sessions.
    ///
    /// - Parameter select: chooses the accounts.
    func remove(_ select: @escaping @Sendable (UserAccountList) -> [UserAccount]) async throws -> [UserAccount] {
        try await toItsEnd { [self] in
            let removed = try await exclusively {
                try await self.change { index in
                    let removed = select(index.list)
                    index.remove(removed)
                    return removed
                }
            }
            // Outside the lock: a save in this process may wait for it while holding the session's locks.
            for account in removed { try await SessionTokens(storage: self, key: account.slot).storage.clear() }
            if !removed.isEmpty { try await change { $0.forget(removed.map(\.slot.rawValue)) } }
            return removed
        }
    }

    /// Removes what is left of changes that earlier processes didn't complete. Runs once in each process.
    func sweepOnce() async {
        guard hasSwept.withLock({ isDone in !isDone }) else { return }
        guard let index = try? await index() else { return }
        if !index.loose.isEmpty { try? await exclusively {} }
        hasSwept.withLock { $0 = true }
    }

    func clear(_ slots: [StorageKey]) async throws {
        for slot in slots { try await base.write(slot, nil) }
        try await change { $0.forget(slots.map(\.rawValue)) }
    }

    /// Saves a session for an empty slot only while the index lists the slot.
    func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        guard expected == nil, secret != nil else { return try await base.replace(key, expected, secret) }
        return try await exclusively { [self] in
            guard try await index().lists(key) else { throw AccountError(.removed) }
            return try await base.replace(key, nil, secret)
        }
    }
}
