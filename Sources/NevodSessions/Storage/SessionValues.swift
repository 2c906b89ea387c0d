internal import Foundation
internal import NevodHost
internal import NevodStorage
internal import NevodSupport

/// One stored session, whose tokens look like a value of their own to a ``TokenStorage``. So tokens are renewed, saved and compared
/// as all others are, and a user that is saved during a renewal is no other token.
///
/// A token that is set begins a new session, without a user. One that replaces another, as a renewal does, stays in the session.
final class SessionValues: SecretKeepingStorage, RenewalLockingStorage, ObservableStorage {
    private let base: AnyKeyValueStorage
    let key: StorageKey
    private let ends = SessionEndHandlers()
    /// For a storage without compare-and-swap.
    private let writing = AsyncLock()
    private let known = Locked<(secret: Secret, record: SessionRecord)?>(nil)
    private let seen = Locked(SeenSession())

    init(_ base: AnyKeyValueStorage, _ key: StorageKey) {
        self.base = base
        self.key = key
    }

    // MARK: The session

    func record() async throws -> SessionRecord? {
        try await read().record
    }

    /// Saves a new session, unless these tokens are stored already: their session then gets the user.
    func save(_ tokens: Data, user: Data?) async throws -> SessionIdentifier {
        var identifier = SessionIdentifier.random()
        try await change { old in
            if let old, old.tokens == tokens { identifier = old.identifier }
            return .to(SessionRecord(identifier, tokens, user: user ?? (old?.identifier == identifier ? old?.user : nil)))
        }
        return identifier
    }

    /// Saves the user of a session.
    ///
    /// - Parameter session: nil for the stored one, whichever it is.
    /// - Returns: false, with nothing saved, if the session is not the stored one, or if none is stored.
    func save(user: Data, of session: SessionIdentifier?) async throws -> Bool {
        try await change { old in
            guard var record = old, session.map({ $0 == record.identifier }) ?? true else { return .none }
            record.user = user
            return .to(record)
        }
    }

    /// Removes a session if it is the stored one.
    func clear(if condition: (SessionRecord) -> Bool) async throws -> Bool {
        try await change { old in
            guard let old, condition(old) else { return .none }
            return .to(nil)
        }
    }

    func onEnd(_ handler: @escaping @Sendable (SessionEnd) -> Void) -> SessionEndHandlers.Registration {
        ends.add(handler)
    }

    // MARK: The tokens

    func secret(for key: StorageKey) async throws -> Secret? {
        try await record().map { Secret(wipingCopy: $0.tokens) }
    }

    func set(_ secret: Secret?, for key: StorageKey) async throws {
        guard let tokens = secret?.copied(as: Data.self) else {
            try await change { _ in .to(nil) }
            return
        }
        _ = try await save(tokens, user: nil)
    }

    func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        let expected = expected?.copied(as: Data.self)
        let tokens = secret?.copied(as: Data.self)
        return try await change(endingBecause: .refused) { old in
            guard old?.tokens == expected else { return .none }
            guard let tokens else { return .to(nil) }
            guard var record = old else { return .to(SessionRecord(.random(), tokens, user: nil)) }
            record.tokens = tokens
            return .to(record)
        }
    }

    func changes() async -> AsyncStream<StorageKey> {
        await base.changes?() ?? AsyncStream { $0.finish() }
    }

    func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        guard let withLock = base.withRenewalLock else { return await body() }
        try await withLock(key, body)
    }

    func confirmRenewalLock(for key: StorageKey) async throws {
        try await base.confirmRenewalLock?(key)
    }

    // MARK: The value

    private enum Change {
        case none
        case to(SessionRecord?)
    }

    private func read() async throws -> (secret: Secret?, record: SessionRecord?) {
        let number = seen.withLock { $0.beginRead() }
        let (secret, record) = try await readValue()
        report(seen.withLock { $0.endRead(number, record?.identifier) })
        return (secret, record)
    }

    private func readValue() async throws -> (secret: Secret?, record: SessionRecord?) {
        guard let secret = try await base.read(key) else { return (nil, nil) }
        // Decoded only after a change, since each request reads the tokens.
        if let known = known.withLock({ $0 }), known.secret == secret { return (secret, known.record) }
        let record = try SessionRecord.decode(secret, of: key)
        known.withLock { $0 = (secret, record) }
        return (secret, record)
    }

    private func report(_ end: SessionEnd?) {
        if let end { ends.report(end) }
    }

    /// Replaces the stored session by what `body` makes of it, and calls `body` again if something else has changed it meanwhile.
    ///
    /// - Parameter reason: why the session ends, if it is removed.
    /// - Returns: whether there was a change.
    @discardableResult
    private func change(
        endingBecause reason: SessionEnd.Reason = .cleared, _ body: (SessionRecord?) -> Change
    ) async throws -> Bool {
        for _ in 0..<1000 {
            let (secret, old) = try await readForChange()
            guard case .to(let new) = body(old) else { return false }
            let encoded = try new?.encoded()
            if let old, new == nil { seen.withLock { $0.willEnd(old.identifier, because: reason) } }
            guard try await writing.withLock({ try await base.replace(key, secret, encoded) }) else { continue }
            report(seen.withLock { $0.didChange(from: old?.identifier, to: new?.identifier, because: reason) })
            return true
        }
        throw StorageError(.busy, "\(key)", problem: "is changed all the time by others", remedy: "try again")
    }

    /// A value that is no session can be overwritten by a login or removed by a logout, but is no session's.
    private func readForChange() async throws -> (secret: Secret?, record: SessionRecord?) {
        do {
            return try await read()
        } catch let error as StorageError where error.code == .damaged {
            // Damage that the storage itself reports leaves nothing to compare with.
            guard let secret = try? await base.read(key) else { throw error }
            return (secret, nil)
        }
    }
}
