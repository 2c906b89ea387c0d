public import NevodSupport

/// A remote store, and a local copy of it that answers while it is away.
///
/// ```swift
/// let storage = LayeredStorage(remote: cloud, local: try FileStorage(directory: "/var/lib/app/copy")) { event in
///     print(event)
/// }
/// ```
///
/// - Reads ask the remote store, and keep what it says. If it fails, the copy answers; if there is no copy yet, the remote
///   store's error does, since "unknown" is not "none".
/// - Writes go to both. What the remote store can't take is kept, marked, and sent before anything is next read from there:
///   if it then still holds what it did when it was last seen, or what was sent before. Otherwise its own value counts, whoever
///   wrote it, and the other is dropped (``LayeredEvent/overruled(_:)``).
/// - A token that was cleared never comes back. One that was cleared here is cleared there, unless somebody has logged in anew
///   meanwhile; one that was cleared there is forgotten here as soon as that can be seen. Where it can't be told whether a
///   value arrived and was cleared, or never arrived, it is dropped: after any error but a ``StorageError`` of code `full`,
///   `tooLarge` or `permissions`, by which a store says that it has not taken a value.
///
/// The marks are in the local store, before anything is sent: the process may end at any instant. Several processes may share
/// both stores, and should if they share one of them; the local one must then be a ``CompareAndSwapStorage``. It is the copy's
/// alone: what stands there is not what was set.
///
/// The condition of ``replace(_:with:for:)`` is the remote store's, in one step if that offers it.
public final class LayeredStorage: SecretKeepingStorage, RenewalLockingStorage, ObservableStorage {
    /// Bytes; the two stores may use another type.
    public typealias Value = [UInt8]

    let remote: AnyKeyValueStorage
    let local: AnyKeyValueStorage
    private let onEvent: @Sendable (LayeredEvent) -> Void
    private let state = Locked(State())
    let observers = StorageObservers()
    // For each key one; some share it.
    private let turns = (0..<64).map { _ in AsyncLock() }

    private struct State {
        var isFallenBack = false
        /// Of which the local copy is known to be old, and can't be written.
        var stale: Set<StorageKey> = []
        var isForwarding = false
        var forwarding: [Task<Void, Never>] = []
    }

    /// - Parameters:
    ///   - remote: the one that counts. It should fail rather than wait: every call asks it first.
    ///   - local: of this storage's own.
    ///   - onEvent: called on any thread, and must not wait.
    public init(
        remote: some KeyValueStorage, local: some KeyValueStorage,
        onEvent: @escaping @Sendable (LayeredEvent) -> Void = { _ in }
    ) {
        self.remote = AnyKeyValueStorage(remote)
        self.local = AnyKeyValueStorage(local)
        self.onEvent = onEvent
    }

    deinit {
        for task in state.withLock({ $0.forwarding }) { task.cancel() }
    }

    /// Whether the remote store failed when it was last asked.
    public var isFallenBack: Bool { state.withLock { $0.isFallenBack } }

    // MARK: Values

    /// - Throws: what the remote store throws, if there is no local copy; `CancellationError`.
    public func secret(for key: StorageKey) async throws -> Secret? {
        // Nothing to be written, as nearly always: no turn is waited for.
        if let copy = try? await copy(of: key).copy, copy.pending == nil, !isStale(key) {
            let held: Secret?
            do { held = try await remote.read(key) } catch { return try fallBack(to: copy, error) }
            recover()
            if held == copy.value { return held }
        }
        return try await turn(of: key).withLock { try await self.settle(key).value }
    }

    /// - Throws: what the remote store throws, if the local one fails as well. And, if a value was cleared remotely and its local
    ///   copy can't be, ``StorageError``: it might come back.
    public func set(_ secret: Secret?, for key: StorageKey) async throws {
        try await turn(of: key).withLock { try await self.write(secret, key) }
    }

    /// - Throws: as ``secret(for:)``.
    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await turn(of: key).withLock { try await self.swap(expected, secret, key) }
    }

    private func turn(of key: StorageKey) -> AsyncLock {
        turns[Int(key.digest % UInt64(turns.count))]
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

    /// The changes that are made here, and those that the two stores tell of.
    public func changes() async -> StorageChanges {
        let isFirst = state.withLock { state in
            defer { state.isForwarding = true }
            return !state.isForwarding
        }
        let own = observers.changes()
        guard isFirst else { return own }
        for changes in [remote.changes, local.changes] {
            guard let stream = await changes?() else { continue }
            let observers = observers
            let task = Task { for await key in stream { observers.notify(key) } }
            state.withLock { $0.forwarding.append(task) }
        }
        return own
    }

    /// Under the local store's lock, and within it the remote one's: who loses sight of the remote store in the middle still holds
    /// the one that others fall back to. One that fails other than by being held by somebody else is done without.
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
            } catch  where hasRun.withLock(\.self) || Self.isAnswer(error) {
                throw error
            } catch {
                failed(error)
            }
        }
        await body()
    }

    private static func isAnswer(_ error: any Error) -> Bool {
        error is CancellationError || (error as? StorageError)?.code == .busy
    }
}
