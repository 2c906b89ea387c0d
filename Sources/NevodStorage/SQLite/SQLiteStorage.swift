internal import Glibc
public import NevodSupport

/// One file for all tokens, sealed: the store for command lines, and for services on one machine. Several processes may use it at
/// once.
///
/// ```swift
/// let storage = try await SQLiteStorage(path: "/var/lib/app/tokens.db", keys: [KeyFile(path: "/etc/app/tokens.key")])
/// ```
///
/// Values are sealed with AES-256-GCM for their key and version, so that a value which somebody has put in another's place
/// doesn't open. The key for that is in the store itself, wrapped by one from a ``StoreKeySource``. Keys and the times of changes
/// are not hidden: put no secret into a ``StorageKey``.
///
/// A write that returns is on the device; a crash at any instant leaves the old value or the new one. Reading what this process
/// has read before, and nobody has changed, costs no system call. Blocking calls run on a thread of the store's own.
public final class SQLiteStorage: SealedStorage {
    public typealias Value = [UInt8]

    /// The longest value, in bytes.
    public static let maximumSize = 1 << 20

    /// Of the database, counted from 1: an earlier one becomes this one when it is opened.
    package static var layout: Int { SQLiteSchema.current.version }

    /// Where it is.
    public let path: String
    let connection: SQLiteConnection
    private let locks: RenewalLocks
    private let cache = Locked(SecretCache())
    /// Values that stand under names that are not theirs; nil: nobody has looked.
    private let strays = Locked<[SealedEntry]?>(nil)
    let keyring: StoreKeyring

    /// Opens the store, or makes it.
    ///
    /// - Parameters:
    ///   - path: of the database. Its folder is made with mode 0700 if it isn't there.
    ///   - keys: a new store is made with the first that is available; an existing one opens with the kind that it was made
    ///     with, and with no other.
    /// - Throws: ``StorageError``: `permissions` if others can read the file, or the key is another's; `damaged` for a file
    ///   that is no store; and what the source throws.
    public convenience init(path: String, keys: [any StoreKeySource]) async throws {
        try await self.init(path: path, keys: keys, mustExist: false)
    }

    /// - Parameter mustExist: whether it is opened only.
    package init(
        path: String, keys: [any StoreKeySource], schema: SQLiteSchema = .current, mustExist: Bool
    ) async throws {
        self.path = path
        connection = try await SQLiteConnection.open(path, schema, mustExist: mustExist)
        locks = RenewalLocks(path: "\(path)-renewals")
        keyring = try await StoreKeyring(of: path, in: connection, sources: keys)
    }

    /// The kind of key that it is sealed with, as ``StoreKeySource/kind`` says it.
    public var keyKind: String { keyring.kind }

    // MARK: Values

    public func secret(for key: StorageKey) async throws -> Secret? {
        let connection = connection
        let counters = connection.counters
        if let known = cache.withLock({ $0.secret(for: key, count: counters.count(of: key)) }) { return known }
        return try await withCurrentKey { (opened) throws(StorageError) -> Secret?? in
            let count = counters.count(of: key)
            let entry = try connection.database.entry(for: key)
            guard entry.keyNumber == opened.number else { return nil }
            if entry.version == 0 { try self.checkMissing(key, opened) }
            let secret = try opened.open(entry, key, in: self.path)
            self.cache.withLock { $0.remember(secret, for: key, count: count) }
            return .some(secret)
        }
    }

    /// Damage on the way to a value, or in its name, looks as if there were none. So the first time that nothing is found, all is
    /// looked at, unless it is too much for that. On the storage's thread.
    private func checkMissing(_ key: StorageKey, _ opened: OpenedKey) throws(StorageError) {
        let strays: [SealedEntry]
        if let known = self.strays.withLock(\.self) {
            strays = known
        } else {
            strays = try connection.database.strays(opened, limit: 10_000)
            self.strays.withLock { $0 = strays }
        }
        for stray in strays where (try? opened.open(stray, key, in: path)) != nil {
            throw StorageError(
                .damaged, path, problem: "the value of \(key) is there, under another name",
                remedy: "log in again, or put the store back from a backup")
        }
    }

    public func set(_ secret: Secret?, for key: StorageKey) async throws {
        _ = try await write(secret, for: key) { _, _ in true }
    }

    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await write(secret, for: key) { (opened, entry) throws(StorageError) in
            try opened.open(entry, key, in: self.path) == expected
        }
    }

    private func write(
        _ secret: Secret?, for key: StorageKey,
        if condition: @escaping @Sendable (OpenedKey, SealedEntry) throws(StorageError) -> Bool
    ) async throws -> Bool {
        if let secret { try Self.check(secret, key) }
        let (connection, counters) = (connection, connection.counters)
        return try await withCurrentKey { (opened) throws(StorageError) in
            let database = connection.database
            var change: UInt64?
            defer { if let change { counters.end(key, change) } }
            return try database.transaction { () throws(StorageError) -> Bool? in
                let entry = try database.entry(for: key)
                guard entry.keyNumber == opened.number else { return nil }
                guard try condition(opened, entry) else { return false }
                let version = entry.version + 1
                change = counters.begin(key)
                try database.save(secret.map { opened.seal($0, key, version) }, for: key, version)
                return true
            }
        }
    }

    static func check(_ secret: Secret, _ key: StorageKey) throws(StorageError) {
        guard secret.count > maximumSize else { return }
        throw StorageError(
            .tooLarge, "\(key)", problem: "the value has \(secret.count) bytes, more than \(maximumSize)",
            remedy: "keep it elsewhere, and its place here")
    }

    /// By a lock on the file beside the database whose name ends with `-renewals`.
    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        try await locks.withLock(for: key) {
            // A stale token here would be the second use of one. What is remembered hangs on a file that somebody may have removed.
            cache.withLock { $0.forget(key) }
            await body()
        }
    }

    // MARK: The key

    /// Runs `body` on the storage's thread. Nil from it: the store has another key by now, which is then opened.
    func withCurrentKey<Result: Sendable>(
        _ body: @escaping @Sendable (OpenedKey) throws(StorageError) -> Result?
    ) async throws -> Result {
        let thread = connection.thread
        return try await keyring.withCurrentKey { opened in
            try await thread.run { () throws(StorageError) in try body(opened) }
        }
    }

    /// Its values are sealed anew, and what was read under the old key goes.
    func openKey(of source: any StoreKeySource) async throws {
        try await keyring.reopen(with: source)
        cache.withLock { $0.forget() }
    }
}
