public import NevodStorage
public import NevodSupport

/// Stores the tokens of a fleet, sealed, in a PostgreSQL database that all its processes share.
///
/// ```swift
/// let storage = try await PostgreSQLStorage(connection: "service=tokens", keys: [KeyFile(path: "/etc/app/tokens.key")])
/// ```
///
/// Values are sealed as in `SQLiteStorage`: neither the server nor a reader of its files or backups sees them. All processes
/// need the same key, from a `StoreKeySource`. Keys and the times of changes are not hidden: put no secret into a `StorageKey`.
///
/// **The server** is found by libpq's own conventions: `PGHOST`, `PGSERVICE`, `PGPASSFILE` and so on. The store uses only tables,
/// advisory locks and `LISTEN`/`NOTIFY`. A connection pooler must preserve sessions (PgBouncer's `pool_mode=session`); any other
/// is refused. libpq itself (`libpq5`) is loaded when the first store is opened.
///
/// **A renewal lock** is a mark in the key's row. It outlives the holder's connection, a restart of the server, and a failover to
/// a synchronous standby. Other processes wait until the holder removes the mark, or gives no sign of life for 20 seconds while
/// the server responds. A value is refused if it is saved under a lock that another process has taken over.
///
/// **A write that returns** has been committed. If the connection is lost during a write, the store looks the value up. If that
/// doesn't settle the outcome, the write fails with an error that says so. A lost connection is replaced on its next use.
///
/// **A read** of a value that this process has read before costs no I/O until the server sends a notification of a change. So it
/// may return a value that another process has just changed. Under ``withRenewalLock(for:_:)``, the first read of the key asks
/// the server. While notifications can't be received, every read asks the server.
///
/// Blocking calls run on threads of the store's own.
public final class PostgreSQLStorage: SealedStorage, ObservableStorage, VersionedStorage {
    public typealias Value = [UInt8]

    /// The longest value, in bytes.
    public static let maximumSize = 1 << 20
    /// The longest key, in bytes of UTF-8.
    public static let maximumKeySize = 2048

    /// The server and the schema, for errors.
    let name: String
    let schema: PostgreSQLSchema
    let pool: PostgreSQLPool
    let keyring: StoreKeyring
    let dispatcher: PostgreSQLEventDispatcher
    let reads: PostgreSQLReadBatcher
    private let listener: PostgreSQLListener
    let channel: String

    /// Opens the store in a schema of a database, or creates it.
    ///
    /// - Parameters:
    ///   - connection: A list of `keyword=value` or a URI, as libpq takes it
    ///     (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>); empty to use the environment. A
    ///     password in it stays in memory in clear text: prefer a password file (`PGPASSFILE`) or a service file.
    ///   - schema: Up to 40 lower-case letters, digits and underscores. A missing schema is created; the user then needs the
    ///     right to create one. Otherwise, the right to read and write its tables is enough.
    ///   - connections: The number of connections for writes; at least one. Three more serve reads, locks and notifications. Each
    ///     is opened on first use.
    ///   - keys: A new store is created with the first available source. An existing one opens only with the kind of key that it
    ///     was created with.
    /// - Throws: `StorageError`: `unavailable`, naming libpq or the server, if libpq is not installed or the server can't be
    ///   reached; `permissions` if the server refuses the user, or the key is another store's; `damaged` if the schema holds no
    ///   store; and errors of the source.
    public convenience init(
        connection: String = "", schema: String = "nevod", connections: Int = 2, keys: [any StoreKeySource]
    ) async throws {
        try await self.init(connection, PostgreSQLSchema(schema), connections, keys)
    }

    /// - Parameter times: How long a renewal lock outlives its holder's connection.
    package convenience init(
        connection: String, schema: String, keys: [any StoreKeySource], times: PostgreSQLRenewalTimes
    ) async throws {
        try await self.init(connection, PostgreSQLSchema(schema), 2, keys, times: times)
    }

    init(
        _ connection: String, _ schema: PostgreSQLSchema, _ connections: Int, _ keys: [any StoreKeySource],
        times: PostgreSQLRenewalTimes = PostgreSQLRenewalTimes()
    ) async throws {
        let target = try PostgreSQLTarget(LibPQ(), connection)
        let pool = PostgreSQLPool(target, count: connections)
        let server = try await pool.perform { (worker) throws(PostgreSQLError) in
            try await worker.runRetrying { (connection, _) throws(PostgreSQLError) in
                try schema.migrate(connection)
                return connection.name
            }
        }
        name = "\(server), schema \(schema.name)"
        self.schema = schema
        self.pool = pool
        keyring = try await StoreKeyring(of: name, in: PostgreSQLKeyTable(pool: pool, schema: schema), sources: keys)
        channel = "nevod_\(keyring.store)"
        reads = PostgreSQLReadBatcher(target, schema)
        let store = keyring.store
        let dispatcher = PostgreSQLEventDispatcher(
            PostgreSQLRenewalLocks(target, schema, channel: channel, store: store, times: times))
        self.dispatcher = dispatcher
        listener = try PostgreSQLListener(target, schema, store, channel: channel) { dispatcher.handle($0) }
        await listener.start()
    }

    deinit {
        listener.stop()
    }

    /// The kind of the key that seals the store: `StoreKeySource/kind`.
    public var keyKind: String { keyring.kind }

    // MARK: Values

    public func secret(for key: StorageKey) async throws -> Secret? {
        try await versionedSecret(for: key).secret
    }

    public func versionedSecret(for key: StorageKey) async throws -> (secret: Secret?, version: Int64) {
        if let known = dispatcher.cache.withLock({ $0.value(for: key) }) { return (known.secret, known.version) }
        try check(key)
        return try await keyring.withCurrentKey { opened in
            try await self.read(key, opened).map { ($0.secret, $0.version) }
        }
    }

    public func set(_ secret: Secret?, for key: StorageKey) async throws {
        // A login or a logout takes precedence over a renewal, whichever process holds the lock.
        _ = try await write(secret, for: key, mayBeRenewal: false) { _ in true }
    }

    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await write(secret, for: key, mayBeRenewal: true) { $0 == expected }
    }

    /// Marks the key's row. Also takes an advisory lock on the server, which needs a session of its own: a connection pooler must
    /// preserve it.
    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        try await dispatcher.locks.withLock(for: key) {
            // The previous holder may have written a value whose notification has not arrived yet.
            self.dispatcher.cache.withLock { $0.drop(key) }
            await body()
        }
    }

    public func confirmRenewalLock(for key: StorageKey) async throws {
        try await dispatcher.locks.confirm(key)
    }

    /// The key of each value that any process changes from now on. After a time without notifications, each key that this process
    /// has used lately (a few thousand) is reported, since its value may have changed.
    public func changes() async -> StorageChanges {
        dispatcher.observers.changes()
    }

    private struct Found {
        let version: Int64
        let secret: Secret?
    }

    /// Reads the current value from the server.
    ///
    /// - Returns: nil if the store has another key.
    private func read(_ key: StorageKey, _ opened: OpenedKey) async throws -> Found? {
        let ticket = dispatcher.cache.withLock { $0.ticket(for: key) }
        let found = try await entry(for: key)
        if let store = found.store, store != opened.store { throw StorageError.isReplaced(name) }
        let entry = found.sealed
        guard entry.keyNumber == opened.number else { return nil }
        let secret = try opened.open(entry, key, in: name)
        dispatcher.cache.withLock { $0.learn(secret, version: entry.version, for: key, ticket) }
        return Found(version: entry.version, secret: secret)
    }

    func entry(for key: StorageKey) async throws(StorageError) -> PostgreSQLEntry {
        do throws(PostgreSQLError) {
            return try await reads.entry(for: key)
        } catch {
            throw error.error
        }
    }

    func check(_ secret: Secret, _ key: StorageKey) throws(StorageError) {
        try StorageError.checkSize(secret.count, upTo: Self.maximumSize, of: "\(key)")
    }

    func check(_ key: StorageKey) throws(StorageError) {
        guard key.rawValue.utf8.count > Self.maximumKeySize else { return }
        throw StorageError(
            .tooLarge, "\(key.rawValue.prefix(40))…",
            problem: "the key has \(key.rawValue.utf8.count) bytes, more than \(Self.maximumKeySize)")
    }
}

// MARK: Writing

extension PostgreSQLStorage {
    private func write(
        _ secret: Secret?, for key: StorageKey, mayBeRenewal: Bool, if condition: @Sendable (Secret?) -> Bool
    ) async throws -> Bool {
        try check(key)
        if let secret { try check(secret, key) }
        // A cached value saves a read. An outdated one does no harm, since only the current version can be replaced.
        var known = dispatcher.cache.withLock { $0.value(for: key) }.map { Found(version: $0.version, secret: $0.secret) }
        for _ in 0..<64 {
            let fence = mayBeRenewal ? dispatcher.locks.fence(for: key) : nil
            let isWritten = try await keyring.withCurrentKey { [known] opened -> Step? in
                if let known, condition(known.secret) {
                    return try await self.write(secret, for: key, after: known, opened, fence)
                }
                guard let found = try await self.read(key, opened) else { return nil }
                guard condition(found.secret) else { return .refused }
                return try await self.write(secret, for: key, after: found, opened, fence)
            }
            switch isWritten {
            case .written: return true
            case .refused: return false
            case .overtaken:
                known = nil
                // The process that has the lock now may not have saved anything yet.
                if fence != nil, try await dispatcher.locks.isLost(key) { return false }
            }
        }
        throw StorageError(.busy, name, problem: "\(key) keeps being changed by others", remedy: "try again")
    }

    private enum Step {
        case written
        case refused
        case overtaken
    }

    private func write(
        _ secret: Secret?, for key: StorageKey, after found: Found, _ opened: OpenedKey, _ fence: Int64?
    ) async throws -> Step {
        let version = try SealedEntry(version: found.version).nextVersion(of: key, in: name)
        let write = PostgreSQLWrite(
            key: key, version: version, sealed: secret.map { opened.seal($0, key, version) }, store: opened.store,
            keyNumber: opened.number, fence: fence, channel: channel)
        let ticket = dispatcher.cache.withLock { $0.ticket(for: key) }
        guard try await send(write) else {
            dispatcher.cache.withLock { $0.drop(key) }
            return .overtaken
        }
        dispatcher.cache.withLock { $0.learn(secret, version: version, for: key, ticket) }
        return .written
    }
}
