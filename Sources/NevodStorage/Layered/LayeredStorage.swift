public import NevodSupport

/// A remote store with a local copy that is used while the remote store can't be reached.
///
/// ```swift
/// let storage = LayeredStorage(remote: cloud, local: try FileStorage(directory: "/var/lib/app/copy")) { event in
///     print(event)
/// }
/// ```
///
/// - Reads ask the remote store, and update the copy. If the remote store fails, the copy is used. If there is no copy yet, the
///   remote store's error is thrown, since "unknown" is not "none".
/// - Writes go to both. If the remote store can't take a value, the copy is marked, and the value is sent before the next read
///   from the remote store. It replaces only the value that was last seen there, or a value that was sent before. Otherwise the
///   remote value takes precedence, and the local one is dropped (``LayeredEvent/overruled(_:)``).
/// - A cleared token never comes back. A token that was cleared here is cleared remotely, unless there was a new login meanwhile.
///   A token that was cleared remotely is cleared here as soon as the remote store can be read. If it is unknown whether a sent
///   value never arrived, or arrived and was cleared, the value is dropped. This applies after every error except a
///   ``StorageError`` of code `full`, `tooLarge` or `permissions`, with which a store reports that it has refused a value.
///
/// If the remote store is a ``VersionedStorage``, as ``SQLiteStorage`` and `PostgreSQLStorage` are, a restore of that store from
/// a backup is noticed: an older version does not replace the local copy, which is sent again (``LayeredEvent/wentBack(_:)``). In
/// a store without versions, an older value looks like a login elsewhere.
///
/// The marks are saved locally before anything is sent, because the process may end at any instant. Several processes may share
/// both stores. If they share one, they should share both, and the local store must be a ``CompareAndSwapStorage``. Don't use the
/// local store for anything else: its entries are encoded.
///
/// ``replace(_:with:for:)`` compares with the remote value. The comparison is atomic if the remote store can do that.
public final class LayeredStorage: SecretKeepingStorage, RenewalLockingStorage, ObservableStorage {
    /// Bytes, even if the two stores use other types.
    public typealias Value = [UInt8]

    let remote: AnyKeyValueStorage
    let local: AnyKeyValueStorage
    private let onEvent: @Sendable (LayeredEvent) -> Void
    private let state = Locked(State())
    let observers: StorageObservers
    // A lock for each key; several keys may share one.
    private let locks = (0..<64).map { _ in AsyncLock() }

    private struct State {
        var isFallenBack = false
        /// The keys whose local copies are known to be outdated, and can't be written.
        var stale: Set<StorageKey> = []
    }

    /// - Parameters:
    ///   - remote: The authoritative store. It should fail fast, because every call asks it first.
    ///   - local: The store of the copy, which nothing else uses.
    ///   - onEvent: Called on any thread; must not block.
    public init(
        remote: some KeyValueStorage, local: some KeyValueStorage,
        onEvent: @escaping @Sendable (LayeredEvent) -> Void = { _ in }
    ) {
        self.remote = AnyKeyValueStorage(remote)
        self.local = AnyKeyValueStorage(local)
        self.onEvent = onEvent
        observers = StorageObservers(forwarding: [self.remote.changes, self.local.changes])
    }

    /// Whether the last call to the remote store failed.
    public var isFallenBack: Bool { state.withLock { $0.isFallenBack } }

    // MARK: Values

    /// - Throws: the remote store's error if there is no local copy; `CancellationError`.
    public func secret(for key: StorageKey) async throws -> Secret? {
        // Usually nothing has to be written, and then no lock is needed.
        if let copy = try? await copy(of: key).copy, copy.pending == nil, !isStale(key) {
            let held: Held
            do { held = try await readRemote(key) } catch { return try fallBack(to: copy, error) }
            recover()
            if held.secret == copy.value, held.version == copy.version { return held.secret }
        }
        return try await lock(of: key).withLock { try await self.reconcile(key).value }
    }

    /// - Throws: the remote store's error if the local store fails too; ``StorageError`` if a value was cleared remotely but not
    ///   locally, since it might come back.
    public func set(_ secret: Secret?, for key: StorageKey) async throws {
        try await lock(of: key).withLock { try await self.write(secret, key) }
    }

    /// - Throws: like ``secret(for:)``.
    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await lock(of: key).withLock { try await self.swap(expected, secret, key) }
    }

    private func lock(of key: StorageKey) -> AsyncLock {
        locks[Int(key.digest % UInt64(locks.count))]
    }

    // MARK: State

    func fallBack(to copy: LayeredCopy, _ error: any Error) throws -> Secret? {
        if error is CancellationError { throw error }
        noteFailure(error)
        return copy.value
    }

    func noteFailure(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        let isNew = state.withLock { state in
            defer { state.isFallenBack = true }
            return !state.isFallenBack
        }
        if isNew { onEvent(.fellBack(error)) }
    }

    func recover() {
        let isNew = state.withLock { state in
            defer { state.isFallenBack = false }
            return state.isFallenBack
        }
        if isNew { onEvent(.recovered) }
    }

    func tell(_ event: LayeredEvent) { onEvent(event) }

    func isStale(_ key: StorageKey) -> Bool { state.withLock { $0.stale.contains(key) } }

    func setStale(_ key: StorageKey, _ isStale: Bool) {
        state.withLock { state in
            if isStale { state.stale.insert(key) } else { state.stale.remove(key) }
        }
    }

    // MARK: Changes

    /// The changes made here, and those that the two stores report.
    public func changes() async -> StorageChanges {
        let changes = observers.changes()
        await observers.begun()
        return changes
    }

    /// Takes the local store's lock, and then the remote store's: a process that loses the remote store meanwhile still holds the
    /// lock that others fall back to. Skips a lock that fails, unless it fails because another process holds it.
    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        let failure = Locked<(any Error)?>(nil)
        let noteLocalFailure = { (error: any Error) in self.onEvent(.localFailed(key, error)) }
        try await hold(local.withRenewalLock, key, failed: noteLocalFailure) {
            do {
                try await self.hold(self.remote.withRenewalLock, key, failed: self.noteFailure, body)
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let error = failure.withLock(\.self) { throw error }
    }

    public func confirmRenewalLock(for key: StorageKey) async throws {
        // A skipped lock isn't held, so it can't be lost.
        try await local.confirmRenewalLock?(key)
        try await remote.confirmRenewalLock?(key)
    }

    private func hold(
        _ lock: (@Sendable (StorageKey, @Sendable () async -> Void) async throws -> Void)?, _ key: StorageKey,
        failed: (any Error) -> Void, _ body: @Sendable () async -> Void
    ) async throws {
        let hasRun = Locked(false)
        if let lock {
            do {
                return try await lock(key) {
                    hasRun.withLock { $0 = true }
                    await body()
                }
            } catch  where hasRun.withLock(\.self) || Self.isRefusal(error) {
                throw error
            } catch {
                failed(error)
            }
        }
        await body()
    }

    /// Whether the lock itself works, but could not be taken.
    private static func isRefusal(_ error: any Error) -> Bool {
        error is CancellationError || (error as? StorageError)?.code == .busy
    }
}

/// An event of a ``LayeredStorage``, to be logged or shown. Holds no value.
public enum LayeredEvent: Sendable, CustomStringConvertible {
    /// The remote store has failed. The local copy is used until ``recovered``.
    case fellBack(any Error)
    /// The remote store works again.
    case recovered
    /// A value was written while the remote store could not be reached. It is dropped, because another process has changed the
    /// remote value meanwhile.
    case overruled(StorageKey)
    /// The remote store holds an older version of the value than it did before, as after a restore from a backup. The local copy
    /// is sent there again. Noticed if the remote store is a ``VersionedStorage``.
    case wentBack(StorageKey)
    /// The local copy of a key can't be read or written. The remote store is used without a fallback.
    case localFailed(StorageKey, any Error)

    /// The text for a log.
    public var description: String {
        switch self {
        case .fellBack(let error): "the remote store failed, the local copy is used: \(error)"
        case .recovered: "the remote store works again"
        case .overruled(let key): "\(key): the remote value has changed meanwhile, and takes precedence"
        case .wentBack(let key): "\(key): the remote store holds an older value than before; the local copy takes precedence"
        case .localFailed(let key, let error): "\(key): the local copy can't be used: \(error)"
        }
    }
}
