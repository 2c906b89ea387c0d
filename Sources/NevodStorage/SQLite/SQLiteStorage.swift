internal import Glibc
public import NevodSupport

/// Stores all tokens in one sealed file: for command lines, and for services on one machine. Several processes may use it at once.
///
/// ```swift
/// let storage = try await SQLiteStorage(path: "/var/lib/app/tokens.db", keys: [KeyFile(path: "/etc/app/tokens.key")])
/// ```
///
/// Each value is sealed with AES-256-GCM for its key and version, so that a value which was moved to another key doesn't open. The
/// sealing key is in the store itself, wrapped by a key from a ``StoreKeySource``. Keys and the times of changes are not hidden: put
/// no secret into a ``StorageKey``.
///
/// A write that has returned is on the device; a crash at any instant leaves the old value or the new one. Reading a value that this
/// process has read before, and that hasn't changed, costs no system call. Blocking calls run on a thread of the store's own.
public final class SQLiteStorage: SealedStorage {
    public typealias Value = [UInt8]

    /// The longest value, in bytes.
    public static let maximumSize = 1 << 20

    /// The database's layout, counted from 1. A database of an earlier layout is migrated when it is opened.
    package static var layout: Int { SQLiteSchema.current.version }

    /// The path of the database.
    public let path: String
    let connection: SQLiteConnection
    private let locks: RenewalLocks
    private let cache = Locked(SecretCache())
    /// Values that are stored under the wrong keys; nil if that was not checked yet.
    private let strays = Locked<[SealedEntry]?>(nil)
    let keyring: StoreKeyring

    /// Opens the store, or creates it.
    ///
    /// - Parameters:
    ///   - path: The database. A missing folder is created with mode 0700.
    ///   - keys: A new store is created with the first that is available; an existing one opens only with the kind of key that it was
    ///     created with.
    /// - Throws: ``StorageError``: `permissions` if others can read the file, or the key is another store's; `damaged` if the file is
    ///   not a store; and errors of the source.
    public convenience init(path: String, keys: [any StoreKeySource]) async throws {
        try await self.init(path: path, keys: keys, mustExist: false)
    }

    /// - Parameter mustExist: Whether to open an existing store only, and never create one.
    package init(
        path: String, keys: [any StoreKeySource], schema: SQLiteSchema = .current, mustExist: Bool
    ) async throws {
        self.path = path
        connection = try await SQLiteConnection.open(path, schema, mustExist: mustExist)
        locks = RenewalLocks(path: "\(path)-renewals")
        keyring = try await StoreKeyring(of: path, in: connection, sources: keys)
    }

    /// The kind of the key that seals the store: ``StoreKeySource/kind``.
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

    /// Damage to the index, or to a value's key, makes the value look absent. So the first time that no value is found, the whole store
    /// is checked, unless it is too large. Runs on the storage's thread.
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
                .damaged, path, problem: "the value of \(key) is stored under another key",
                remedy: "log in again, or restore the store from a backup")
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
            remedy: "store it elsewhere, and keep a reference here")
    }

    /// Locks a file with the database's path and the suffix `-renewals`.
    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        try await locks.withLock(for: key) {
            // A stale token would be used a second time here. The cache relies on the file of change counters, which may have been removed.
            cache.withLock { $0.forget(key) }
            await body()
        }
    }

    // MARK: The key

    /// Runs the body on the storage's thread with the current key.
    ///
    /// - Parameter body: Returns nil if the store has a new key by now; it is then called again with that key.
    func withCurrentKey<Result: Sendable>(
        _ body: @escaping @Sendable (OpenedKey) throws(StorageError) -> Result?
    ) async throws -> Result {
        let thread = connection.thread
        return try await keyring.withCurrentKey { opened in
            try await thread.run { () throws(StorageError) in try body(opened) }
        }
    }

    /// Opens the store's new key, and clears the cache.
    func openKey(of source: any StoreKeySource) async throws {
        try await keyring.reopen(with: source)
        cache.withLock { $0.forget() }
    }
}
