internal import NevodHost
internal import NevodStorage
internal import NevodSupport

/// The sessions of several accounts in one storage, each under a key of its own (its slot), and the index that lists them.
///
/// A renewal replaces a session that is stored, by compare-and-swap, so it can't restore one that was removed. A session in an empty
/// slot, as after a login, is saved only while the index lists the slot. Both the check and the removal from the index take place
/// under one lock: the storage's renewal lock for the index, where it has one.
final class AccountSessions: SecretKeepingStorage, RenewalLockingStorage, ObservableStorage {
    private let base: AnyKeyValueStorage
    /// The key of the index.
    let key: StorageKey
    private let observers: StorageObservers
    private let locking = AsyncLock()
    /// For a storage without compare-and-swap.
    private let writing = AsyncLock()
    private let known = Locked<(secret: Secret, index: AccountIndex)?>(nil)
    private let hasSwept = Locked(false)

    private init(_ base: AnyKeyValueStorage, _ key: StorageKey) {
        self.base = base
        self.key = key
        observers = StorageObservers(forwarding: [base.changes])
    }

    // MARK: The index

    /// The list as it is stored now. Reads the storage each time, since other processes may change it, but decodes only a change.
    func index() async throws -> AccountIndex {
        try await readIndex().index
    }

    private func readIndex() async throws -> (secret: Secret?, index: AccountIndex) {
        guard let secret = try await base.read(key) else { return (nil, AccountIndex()) }
        if let known = known.withLock({ $0 }), known.secret == secret { return (secret, known.index) }
        let index = try AccountIndex.decode(secret, of: key)
        known.withLock { $0 = (secret, index) }
        return (secret, index)
    }

    /// Changes the index by compare-and-swap. `body` is called again if another task or process has changed it meanwhile.
    func change<Outcome>(_ body: (inout AccountIndex) throws -> Outcome) async throws -> Outcome {
        for _ in 0..<1000 {
            let (secret, old) = try await readIndex()
            var new = old
            let outcome = try body(&new)
            guard new != old else { return outcome }
            let encoded = try new.encoded()
            guard try await writing.withLock({ try await base.replace(key, secret, encoded) }) else { continue }
            observers.notify(key)
            return outcome
        }
        throw StorageError(.busy, "\(key)", problem: "is changed all the time by others", remedy: "try again")
    }

    // MARK: Slots

    /// Writes the first session of a new account, and then lists the account.
    ///
    /// - Returns: nil if an account with this identifier was added meanwhile.
    func add(_ id: String, _ record: SessionRecord, isCurrent: Bool) async throws -> UserAccount? {
        let encoded = try record.encoded()
        return try await exclusively { [self] in
            let account = UserAccount(id: id, slot: newSlot())
            try await change { index in
                try index.checkRoom()
                index.prepare(account.slot)
            }
            do {
                try await base.write(account.slot, encoded)
                let isAdded = try await change { index in try index.add(account, isCurrent: isCurrent) }
                if isAdded { return account }
            } catch {
                try? await clear([account.slot])
                throw error
            }
            try await clear([account.slot])
            return nil
        }
    }

    /// Takes accounts from the list and removes their sessions.
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
            // Outside the lock, which a save in this process may be waiting for while it holds those of the session.
            for account in removed { try await SessionTokens(storage: self, key: account.slot).storage.clear() }
            if !removed.isEmpty { try await change { $0.forget(removed.map(\.slot.rawValue)) } }
            return removed
        }
    }

    /// Removes what earlier processes have left behind when they ended in the middle of a change. Once for each process.
    func sweepOnce() async {
        guard hasSwept.withLock({ isDone in !isDone }) else { return }
        guard let index = try? await index() else { return }
        if !index.loose.isEmpty { try? await exclusively {} }
        hasSwept.withLock { $0 = true }
    }

    private func clear(_ slots: [StorageKey]) async throws {
        for slot in slots { try await base.write(slot, nil) }
        try await change { $0.forget(slots.map(\.rawValue)) }
    }

    private func newSlot() -> StorageKey {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        return StorageKey(rawValue: "\(key).\(Hexadecimal.text(bytes))")
    }

    /// Runs the body while no other task or process adds or removes accounts or begins sessions. A caller that is cancelled doesn't
    /// stop it halfway.
    private func exclusively<Outcome: Sendable>(_ body: @escaping @Sendable () async throws -> Outcome) async throws -> Outcome {
        try await toItsEnd { [self] in
            try await locking.withLock {
                try await self.base.locked(self.key) {
                    // A session that can't be removed now is still listed, and tried again.
                    let loose = try await self.index().loose.map(StorageKey.init(rawValue:))
                    if !loose.isEmpty { try? await self.clear(loose) }
                    return try await body()
                }
            }
        }
    }

    private func toItsEnd<Outcome: Sendable>(_ body: @escaping @Sendable () async throws -> Outcome) async throws -> Outcome {
        try await Task { try await body() }.value
    }

    // MARK: The storage of each session

    func secret(for key: StorageKey) async throws -> Secret? {
        try await base.read(key)
    }

    func set(_ secret: Secret?, for key: StorageKey) async throws {
        for _ in 0..<1000 {
            if try await replace(base.read(key), with: secret, for: key) { return }
        }
        throw StorageError(.busy, "\(key)", problem: "is changed all the time by others", remedy: "try again")
    }

    func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        guard expected == nil, secret != nil else { return try await base.replace(key, expected, secret) }
        return try await exclusively { [self] in
            guard try await index().lists(key) else { throw AccountError(.removed) }
            return try await base.replace(key, nil, secret)
        }
    }

    func changes() async -> StorageChanges {
        let changes = observers.changes()
        await observers.begun()
        return changes
    }

    func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        guard let withLock = base.withRenewalLock else { return await body() }
        try await withLock(key, body)
    }

    func confirmRenewalLock(for key: StorageKey) async throws {
        try await base.confirmRenewalLock?(key)
    }

    /// The index from now on, and after each change.
    func lists() -> AsyncStream<UserAccountList> {
        let (stream, continuation) = AsyncStream.makeStream(of: UserAccountList.self, bufferingPolicy: .bufferingNewest(1))
        let (changes, key) = (observers.changes(), key)
        let task = Task { [weak self] in
            // Before the first read, so that no change after it is missed.
            await self?.observers.begun()
            var shown = try? await self?.index().list
            if let shown { continuation.yield(shown) }
            for await changed in changes where changed == key {
                // One read after the other, each after the report that caused it: the last one shown is the one stored.
                guard let list = try? await self?.index().list, list != shown else { continue }
                shown = list
                continuation.yield(list)
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

extension AccountSessions {
    private struct Place: Hashable {
        let storage: ObjectIdentifier
        let key: StorageKey
    }

    private struct Reference {
        weak var sessions: AccountSessions?
    }

    private static let all = Locked<[Place: Reference]>([:])

    /// The same object for the same storage and key, so that all clients of an account share one renewal at a time.
    static func shared(_ storage: AnyKeyValueStorage, _ key: StorageKey) -> AccountSessions {
        guard let identity = storage.identity else { return AccountSessions(storage, key) }
        return all.withLock { all in
            // The object holds its storage, so an identifier is not used again while it lives.
            let place = Place(storage: identity, key: key)
            if let known = all[place]?.sessions { return known }
            all = all.filter { $0.value.sessions != nil }
            let sessions = AccountSessions(storage, key)
            all[place] = Reference(sessions: sessions)
            return sessions
        }
    }
}
