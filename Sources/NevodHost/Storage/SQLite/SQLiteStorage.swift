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
public final class SQLiteStorage: SecretKeepingStorage, RenewalLockingStorage {
    public typealias Value = [UInt8]

    /// The longest value, in bytes.
    public static let maximumSize = 1 << 20

    /// Where it is.
    public let path: String
    private let sources: Locked<[any StoreKeySource]>
    let connection: SQLiteConnection
    private let locks: RenewalLocks
    private let cache = Locked(SecretCache())
    private let opened: Locked<OpenedKey>

    /// The data key, and which of the store's keys, past and present, it is.
    struct OpenedKey: Sendable {
        let store: StoreIdentifier
        let number: Int64
        let kind: String
        let key: SealingKey
    }

    /// Opens the store, or makes it.
    ///
    /// - Parameters:
    ///   - path: of the database. Its folder is made with mode 0700 if it isn't there.
    ///   - keys: a new store is made with the first that is available; an existing one opens with the kind that it was made
    ///     with, and with no other.
    /// - Throws: ``StorageError``: `permissions` if others can read the file, or the key is another's; `damaged` for a file
    ///   that is no store; and what the source throws.
    public convenience init(path: String, keys: [any StoreKeySource]) async throws {
        try await self.init(path: path, keys: keys, schema: .current)
    }

    init(path: String, keys: [any StoreKeySource], schema: SQLiteSchema) async throws {
        self.path = path
        sources = Locked(keys)
        connection = try await SQLiteConnection.open(path, schema)
        locks = RenewalLocks(path: "\(path)-renewals")
        opened = Locked(try await Self.openedKey(connection, keys))
    }

    /// The kind of key that it is sealed with, as ``StoreKeySource/kind`` says it.
    public var keyKind: String { opened.withLock(\.kind) }

    // MARK: Values

    public func secret(for key: StorageKey) async throws -> Secret? {
        let connection = connection
        let counters = connection.counters
        if let known = cache.withLock({ $0.secret(for: key, count: counters.count(of: key)) }) { return known }
        return try await withCurrentKey { (opened) throws(StorageError) -> Secret?? in
            let count = counters.count(of: key)
            let entry = try connection.database.entry(for: key)
            guard entry.keyNumber == opened.number else { return nil }
            let secret = try opened.open(entry, key, in: self.path)
            self.cache.withLock { $0.remember(secret, for: key, count: count) }
            return .some(secret)
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
        if condition: @escaping @Sendable (OpenedKey, SQLiteEntry) throws(StorageError) -> Bool
    ) async throws -> Bool {
        if let secret, secret.count > Self.maximumSize {
            throw StorageError(
                .tooLarge, "\(key)", problem: "the value has \(secret.count) bytes, more than \(Self.maximumSize)",
                remedy: "keep it elsewhere, and its place here")
        }
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

    /// By a lock on the file beside the database whose name ends with `-renewals`.
    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        try await locks.withLock(for: key, body)
    }

    // MARK: The key

    /// Runs `body` on the storage's thread. Nil from it: the store has another key by now, which is then opened.
    func withCurrentKey<Result: Sendable>(
        _ body: @escaping @Sendable (OpenedKey) throws(StorageError) -> Result?
    ) async throws -> Result {
        for _ in 0..<8 {
            let opened = opened.withLock(\.self)
            let result = try await connection.thread.run { () throws(StorageError) in try body(opened) }
            if let result { return result }
            try await openKey()
        }
        throw StorageError(.busy, path, problem: "its key is changed again and again", remedy: "try once more")
    }

    /// - Parameter source: of the key that it has from now on; nil: one that was given before.
    func openKey(with source: (any StoreKeySource)? = nil) async throws {
        let sources = sources.withLock { sources in
            if let source { sources.insert(source, at: 0) }
            return sources
        }
        let new = try await Self.openedKey(connection, sources)
        cache.withLock { $0.forget() }
        opened.withLock { $0 = new }
    }

    private static func openedKey(
        _ connection: SQLiteConnection, _ sources: [any StoreKeySource]
    ) async throws -> OpenedKey {
        if let (sealed, number) = try await connection.sealedKey() {
            return OpenedKey(
                store: sealed.store, number: number, kind: sealed.kind, key: try await sealed.open(with: sources))
        }
        let sealed = try await SealedKey.make(.random(), of: .random(), with: sources)
        _ = try await connection.thread.run { () throws(StorageError) in
            try connection.database.transaction { () throws(StorageError) in
                // Another process may have made the store meanwhile: its key is the store's.
                if try connection.database.sealedKey() == nil { try connection.database.save(sealed, number: 1) }
            }
        }
        return try await openedKey(connection, sources)
    }
}

extension SQLiteStorage.OpenedKey {
    func seal(_ secret: Secret, _ key: StorageKey, _ version: Int64) -> [UInt8] {
        self.key.seal(secret, for: place(key, version))
    }

    /// Nil: nothing is stored.
    func open(_ entry: SQLiteEntry, _ key: StorageKey, in path: String) throws(StorageError) -> Secret? {
        guard let sealed = entry.sealed else { return nil }
        guard let secret = self.key.open(sealed, for: place(key, entry.version)) else {
            throw StorageError(
                .damaged, path, problem: "the value of \(key) does not open: it was changed, or belongs to another key",
                remedy: "log in again, or put the store back from a backup")
        }
        return secret
    }

    private func place(_ key: StorageKey, _ version: Int64) -> [UInt8] {
        store.bytes + withUnsafeBytes(of: version.bigEndian) { Array($0) } + Array(key.rawValue.utf8)
    }
}
