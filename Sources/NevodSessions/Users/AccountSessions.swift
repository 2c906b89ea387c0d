internal import NevodHost
internal import NevodStorage
internal import NevodSupport

/// The sessions of several accounts in one storage, each under a key of its own (its slot), and the index that lists them.
///
/// A renewal replaces the stored session by compare-and-swap, so it can't restore a removed one. A session for an empty slot, for
/// example after a login, is saved only while the index lists the slot. One lock covers both this check and the removal from the
/// index: the storage's renewal lock for the index, if it has one.
final class AccountSessions: SecretKeepingStorage, RenewalLockingStorage, ObservableStorage {
    let base: AnyKeyValueStorage
    /// The key of the index.
    let key: StorageKey
    private let observers: StorageObservers
    private let stored: RecordSlot<AccountIndex>
    private let locking = AsyncLock()
    let hasSwept = Locked(false)

    private init(_ base: AnyKeyValueStorage, _ key: StorageKey) {
        self.base = base
        self.key = key
        stored = RecordSlot(base, key)
        observers = StorageObservers(forwarding: [base.changes])
    }

    // MARK: The index

    /// The list as it is stored now.
    func index() async throws -> AccountIndex {
        try await stored.read().record ?? AccountIndex()
    }

    /// Changes the index by compare-and-swap. Calls `body` again if another task or process has changed the index meanwhile.
    func change<Outcome>(_ body: (inout AccountIndex) throws -> Outcome) async throws -> Outcome {
        try await retryingCompareAndSwap(of: key) {
            let (secret, record) = try await stored.read()
            let old = record ?? AccountIndex()
            var new = old
            let outcome = try body(&new)
            guard new != old else { return outcome }
            guard try await stored.replace(secret, with: new.encoded()) else { return nil }
            observers.notify(key)
            return outcome
        }
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

    private func newSlot() -> StorageKey {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        return StorageKey(rawValue: "\(key).\(Hexadecimal.text(bytes))")
    }

    /// Runs the body while no other task or process adds or removes accounts or begins sessions. Cancelling the caller doesn't
    /// stop it halfway.
    func exclusively<Outcome: Sendable>(_ body: @escaping @Sendable () async throws -> Outcome) async throws -> Outcome {
        try await toItsEnd { [self] in
            try await locking.withLock {
                try await self.base.locked(self.key) {
                    // A session that can't be removed now stays listed, and is retried later.
                    let loose = try await self.index().loose.map(StorageKey.init(rawValue:))
                    if !loose.isEmpty { try? await self.clear(loose) }
                    return try await body()
                }
            }
        }
    }

    func toItsEnd<Outcome: Sendable>(_ body: @escaping @Sendable () async throws -> Outcome) async throws -> Outcome {
        try await Task { try await body() }.value
    }

    // MARK: The storage of each session

    func secret(for key: StorageKey) async throws -> Secret? {
        try await base.read(key)
    }

    func set(_ secret: Secret?, for key: StorageKey) async throws {
        try await retryingCompareAndSwap(of: key) {
            try await replace(base.read(key), with: secret, for: key) ? () : nil
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

    /// The index now, and after each change.
    func lists() -> AsyncStream<UserAccountList> {
        let (stream, continuation) = AsyncStream.makeStream(of: UserAccountList.self, bufferingPolicy: .bufferingNewest(1))
        let (changes, key) = (observers.changes(), key)
        let task = Task { [weak self] in
            // Starts observing before the first read, so that no later change is missed.
            await self?.observers.begun()
            var shown = try? await self?.index().list
            if let shown { continuation.yield(shown) }
            for await changed in changes where changed == key {
                // The reads run one after another, each after the report that caused it, so the last list shown is the stored
                // one.
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
    private static let all = SharedObjects<AccountSessions>()

    /// Returns the same object for the same storage and key, so that all clients of an account share each renewal.
    static func shared(_ storage: AnyKeyValueStorage, _ key: StorageKey) -> AccountSessions {
        all.object(storage, key) { AccountSessions(storage, key) }
    }
}
