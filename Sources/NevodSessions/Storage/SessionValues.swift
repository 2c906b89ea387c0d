internal import Foundation
internal import NevodHost
internal import NevodStorage
internal import NevodSupport

/// One stored session, which a ``TokenStorage`` sees as a store of the tokens alone. So its tokens are renewed, saved and
/// compared like any others, and saving a user during a renewal doesn't count as a new token.
///
/// Setting a token begins a new session, without a user. Replacing a token, as a renewal does, stays in the session.
final class SessionValues: SecretKeepingStorage, RenewalLockingStorage, ObservableStorage {
    private let base: AnyKeyValueStorage
    let key: StorageKey
    private let stored: RecordSlot<SessionRecord>
    private let ends = SessionEndHandlers()
    private let seen = Locked(SeenSession())
    /// Renewed tokens that couldn't be verified yet, shared by all clients of the session.
    let unverified = Locked<UnverifiedTokens?>(nil)
    /// Counts the logins and logouts of this process.
    let turn = Locked(0)
    /// Held while a login begins, while a login saves its session, and while a logout removes it.
    let logins = AsyncLock()

    init(_ base: AnyKeyValueStorage, _ key: StorageKey) {
        self.base = base
        self.key = key
        stored = RecordSlot(base, key)
    }

    /// The number of logins and logouts that wait for another login.
    var waitingCount: Int { logins.waitingCount }

    // MARK: The session

    func record() async throws -> SessionRecord? {
        try await read().record
    }

    /// - Parameter begun: called with a session that another process has begun while this process knew of none.
    func onEnd(
        _ handler: @escaping @Sendable (SessionEnd) -> Void, begun: @escaping @Sendable (SessionIdentifier) -> Void = { _ in }
    ) -> SessionEndHandlers.Registration {
        ends.add(SessionEndHandlers.Handler(end: handler, begin: begun)) { [weak self, base, key] in
            guard let changes = base.changes else { return nil }
            return Task { [weak self] in
                let changes = await changes()
                // The session may have changed after the last read, and before this task receives the reports.
                if self?.seen.withLock({ $0.isKnown }) == true { await self?.readReported() }
                for await changed in changes where changed == key { await self?.readReported() }
            }
        }
    }

    // MARK: The tokens

    func secret(for key: StorageKey) async throws -> Secret? {
        try await record().map { Secret(wipingCopy: $0.tokens) }
    }

    func set(_ secret: Secret?, for key: StorageKey) async throws {
        guard let tokens = secret?.copied(as: Data.self) else { return try await clear() }
        _ = try await save(tokens, user: nil)
    }

    func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await renew(expected?.copied(as: Data.self), with: secret?.copied(as: Data.self))
    }

    func changes() async -> StorageChanges {
        await base.changes?() ?? .none
    }

    func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        guard let withLock = base.withRenewalLock else { return await body() }
        try await withLock(key, body)
    }

    func confirmRenewalLock(for key: StorageKey) async throws {
        try await base.confirmRenewalLock?(key)
    }

    // MARK: The value

    /// How a change affects the stored session.
    enum Change {
        case none
        case to(SessionRecord?)
    }

    private func read() async throws -> (secret: Secret?, record: SessionRecord?) {
        let (secret, record, _) = try await readNoting()
        return (secret, record)
    }

    private func readNoting() async throws -> (secret: Secret?, record: SessionRecord?, news: SeenSession.News) {
        let number = seen.withLock { $0.beginRead() }
        let (secret, record) = try await stored.read()
        let news = seen.withLock { $0.endRead(number, record?.identifier) }
        report(news.end)
        if let begun = news.begin { ends.report(begun) }
        return (secret, record, news)
    }

    /// Reads what another process may have changed. Repeats a read that was overtaken, since the change that overtook it may be
    /// older than the reported one.
    private func readReported() async {
        for _ in 0..<100 {
            guard let news = try? await readNoting().news, news.isOvertaken else { return }
        }
    }

    private func report(_ end: SessionEnd?) {
        if let end { ends.report(end) }
    }

    /// Replaces the stored session with the result of `body`. Calls `body` again if the session has changed meanwhile.
    ///
    /// - Parameter reason: why the session ends, if it is removed.
    /// - Returns: whether there was a change.
    @discardableResult
    func change(
        endingBecause reason: SessionEnd.Reason = .cleared, _ body: (SessionRecord?) -> Change
    ) async throws -> Bool {
        try await retryingCompareAndSwap(of: key) {
            let (secret, old) = try await readForChange()
            guard case .to(let new) = body(old) else { return false }
            let encoded = try new?.encoded()
            if let old, new == nil { seen.withLock { $0.willEnd(old.identifier, because: reason) } }
            if let new { seen.withLock { $0.willBegin(new.identifier) } }
            guard try await stored.replace(secret, with: encoded) else { return nil }
            report(seen.withLock { $0.didChange(from: old?.identifier, to: new?.identifier, because: reason) })
            return true
        }
    }

    /// Reads a value that isn't a session as nil: a login may overwrite it, and a logout may remove it.
    func readForChange() async throws -> (secret: Secret?, record: SessionRecord?) {
        do {
            return try await read()
        } catch let error as StorageError where error.code == .damaged {
            // If the storage itself reports the damage, there is no value to compare with.
            guard let secret = try? await base.read(key) else { throw error }
            return (secret, nil)
        }
    }
}
