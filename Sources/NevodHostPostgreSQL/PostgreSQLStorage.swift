public import NevodStorage
public import NevodSupport

/// Tokens of a fleet, sealed, in a PostgreSQL database that all its processes share.
///
/// ```swift
/// let storage = try await PostgreSQLStorage(connection: "service=tokens", keys: [KeyFile(path: "/etc/app/tokens.key")])
/// ```
///
/// Values are sealed as `SQLiteStorage` does it: the server sees none, and whoever reads its files or backups neither. All processes
/// need the same key, from a `StoreKeySource`. Keys and the times of changes are not hidden: put no secret into a `StorageKey`.
///
/// **The server** is found by libpq's own conventions: `PGHOST`, `PGSERVICE`, `PGPASSFILE` and so on. It is asked for no more than
/// tables, advisory locks and `LISTEN`/`NOTIFY`; a pooler in between must keep sessions (PgBouncer's `pool_mode=session`). libpq itself
/// (`libpq5`) is loaded when the first store is opened.
///
/// **A write that returns** has been committed; one whose connection is lost meanwhile is looked for, and if nobody can tell what
/// became of it, it fails and says so. A connection that is lost is replaced when it is next needed.
///
/// **A read** of what this process has read before costs no I/O, until the server tells that it has changed. So it may give what was
/// there a moment ago, before another process's change was heard. Under ``withRenewalLock(for:_:)`` the first read of the key asks
/// the server. While nothing can be heard, every read does.
///
/// Blocking calls run on threads of the store's own.
public final class PostgreSQLStorage: SealedStorage, ObservableStorage {
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
    let hub: PostgreSQLHub
    let reads: PostgreSQLReads
    private let listener: PostgreSQLListener
    let channel: String

    /// Opens the store, or makes it, in a schema of a database.
    ///
    /// - Parameters:
    ///   - connection: a list of `keyword=value` or a URI, as libpq takes it
    ///     (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>); empty: what the environment says. A
    ///     password in it stays in memory in clear: prefer a password file (`PGPASSFILE`) or a service file.
    ///   - schema: up to 40 lower-case letters, digits and underscores. Made if it isn't there, for which the user needs the right to
    ///     make one; else it needs to read and write its tables.
    ///   - connections: for writes; at least one. Three more serve reads, locks and news, each when it is first needed.
    ///   - keys: a new store is made with the first that is available; an existing one opens with the kind that it was made
    ///     with, and with no other.
    /// - Throws: `StorageError`: `unavailable` if libpq is not installed or the server can't be reached, naming it; `permissions` if the
    ///   server refuses the user, or the key is another's; `damaged` for a schema that is no store's; and what the source throws.
    public convenience init(
        connection: String = "", schema: String = "nevod", connections: Int = 2, keys: [any StoreKeySource]
    ) async throws {
        try await self.init(connection, PostgreSQLSchema(schema), connections, keys)
    }

    init(_ connection: String, _ schema: PostgreSQLSchema, _ connections: Int, _ keys: [any StoreKeySource]) async throws {
        let target = try PostgreSQLTarget(PQ(), connection)
        let pool = PostgreSQLPool(target, count: connections)
        let server = try await pool.storage { (lane) throws(PostgreSQLError) in
            try await lane.runAgain { (connection, _) throws(PostgreSQLError) in
                try schema.migrate(connection)
                return connection.name
            }
        }
        name = "\(server), schema \(schema.name)"
        self.schema = schema
        self.pool = pool
        keyring = try await StoreKeyring(of: name, in: PostgreSQLKeyTable(pool: pool, schema: schema), sources: keys)
        channel = "nevod_\(keyring.store)"
        reads = PostgreSQLReads(target, schema)
        let hub = PostgreSQLHub(PostgreSQLRenewalLocks(target, channel: channel, store: keyring.store))
        self.hub = hub
        listener = PostgreSQLListener(target, channel: channel) { hub.take($0) }
        await listener.start()
    }

    deinit {
        listener.stop()
    }

    /// The kind of key that it is sealed with, as `StoreKeySource/kind` says it.
    public var keyKind: String { keyring.kind }

    // MARK: Values

    public func secret(for key: StorageKey) async throws -> Secret? {
        if let known = hub.cache.withLock({ $0.value(for: key) }) { return known.secret }
        try check(key)
        return try await keyring.withCurrentKey { opened in
            try await self.read(key, opened).map { .some($0.secret) } ?? .none
        }
    }

    public func set(_ secret: Secret?, for key: StorageKey) async throws {
        _ = try await write(secret, for: key) { _ in true }
    }

    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await write(secret, for: key) { $0 == expected }
    }

    /// By an advisory lock of the server's. Its session is the store's own, of which a connection pooler must not make several.
    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        try await hub.locks.withLock(for: key) {
            // Who held it before may have written what this process has not heard of.
            self.hub.cache.withLock { $0.drop(key) }
            await body()
        }
    }

    /// Every change from now on, of whatever process; and, after a time in which nothing could be heard, each key that this process has
    /// used lately (some thousand), since it may have changed.
    public func changes() async -> StorageChanges {
        hub.observers.changes()
    }

    private struct Found {
        let version: Int64
        let secret: Secret?
    }

    /// As it is on the server now. Nil: the store has another key.
    private func read(_ key: StorageKey, _ opened: OpenedKey) async throws -> Found? {
        let ticket = hub.cache.withLock { $0.ticket(for: key) }
        let entry = try await entry(for: key)
        guard entry.keyNumber == opened.number else { return nil }
        let secret = try opened.open(entry, key, in: name)
        hub.cache.withLock { $0.learn(secret, version: entry.version, for: key, ticket) }
        return Found(version: entry.version, secret: secret)
    }

    private func entry(for key: StorageKey) async throws(StorageError) -> SealedEntry {
        do throws(PostgreSQLError) {
            return try await reads.entry(for: key)
        } catch {
            throw error.error
        }
    }

    func check(_ secret: Secret, _ key: StorageKey) throws(StorageError) {
        guard secret.count > Self.maximumSize else { return }
        throw StorageError(
            .tooLarge, "\(key)", problem: "the value has \(secret.count) bytes, more than \(Self.maximumSize)",
            remedy: "keep it elsewhere, and its place here")
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
        _ secret: Secret?, for key: StorageKey, if condition: @Sendable (Secret?) -> Bool
    ) async throws -> Bool {
        try check(key)
        if let secret { try check(secret, key) }
        // What is remembered saves the question, if it is true: a version that has gone is not replaced.
        var known = hub.cache.withLock { $0.value(for: key) }.map { Found(version: $0.version, secret: $0.secret) }
        for _ in 0..<64 {
            let isWritten = try await keyring.withCurrentKey { [known] opened -> Step? in
                if let known, condition(known.secret) { return try await self.write(secret, for: key, after: known, opened) }
                guard let found = try await self.read(key, opened) else { return nil }
                guard condition(found.secret) else { return .refused }
                return try await self.write(secret, for: key, after: found, opened)
            }
            switch isWritten {
            case .written: return true
            case .refused: return false
            case .overtaken: known = nil
            }
        }
        throw StorageError(.busy, name, problem: "\(key) is changed again and again", remedy: "try once more")
    }

    private enum Step {
        case written
        case refused
        case overtaken
    }

    private func write(_ secret: Secret?, for key: StorageKey, after found: Found, _ opened: OpenedKey) async throws -> Step {
        let version = found.version + 1
        let write = PostgreSQLWrite(
            key: key, version: version, sealed: secret.map { opened.seal($0, key, version) }, keyNumber: opened.number,
            channel: channel)
        let ticket = hub.cache.withLock { $0.ticket(for: key) }
        guard try await send(write) else {
            hub.cache.withLock { $0.drop(key) }
            return .overtaken
        }
        hub.cache.withLock { $0.learn(secret, version: version, for: key, ticket) }
        return .written
    }

    /// - Returns: false if another version is there.
    private func send(_ write: PostgreSQLWrite) async throws -> Bool {
        let schema = schema
        var (wasLost, last): (Bool, StorageError?) = (false, nil)
        var attempts = PostgreSQLAttempts()
        while attempts.next() {
            do throws(PostgreSQLError) {
                let isSaved = try await pool.withLane { (lane) throws(PostgreSQLError) in
                    try await lane.run { (connection, _) throws(PostgreSQLError) in try connection.save(write, schema) }
                }
                // If one has been sent before, that may be why.
                if isSaved || !wasLost { return isSaved }
            } catch {
                guard attempts.mayRepeat(after: error, at: .now) else {
                    throw wasLost ? inDoubt(write, "\(error.error)") : error.error
                }
                wasLost = wasLost || error.isLost
                last = error.error
            }
            guard wasLost else { continue }
            switch try await outcome(of: write) {
            case .written: return true
            case .pending: continue
            case .overtaken: return false
            case .unknown: throw inDoubt(write, "another value has taken its place since")
            }
        }
        guard !wasLost, let last else { throw inDoubt(write, "the connection is lost again and again") }
        throw last
    }

    private func outcome(of write: PostgreSQLWrite) async throws -> PostgreSQLWrite.Outcome {
        do throws(StorageError) {
            return write.outcome(given: try await entry(for: write.key))
        } catch {
            throw inDoubt(write, "\(error)")
        }
    }

    private func inDoubt(_ write: PostgreSQLWrite, _ problem: String) -> StorageError {
        hub.cache.withLock { $0.drop(write.key) }
        return StorageError(
            .unavailable, name,
            problem: "the connection was lost while \(write.key) was saved, which may have happened or not: \(problem)",
            remedy: "read it again when the server is back")
    }
}

extension PostgreSQLPool {
    func storage<Result: Sendable>(
        _ body: @Sendable (PostgreSQLLane) async throws(PostgreSQLError) -> Result
    ) async throws(StorageError) -> Result {
        do throws(PostgreSQLError) {
            return try await withLane(body)
        } catch {
            throw error.error
        }
    }
}

/// Where the store's wrapped key is.
struct PostgreSQLKeyTable: SealedKeyKeeping {
    let pool: PostgreSQLPool
    let schema: PostgreSQLSchema

    func sealedKey() async throws(StorageError) -> (SealedKey, number: Int64)? {
        let schema = schema
        return try await pool.storage { (lane) throws(PostgreSQLError) in
            try await lane.runAgain { (connection, _) throws(PostgreSQLError) in try connection.sealedKey(schema) }
        }
    }

    func addFirst(_ key: SealedKey) async throws(StorageError) {
        let schema = schema
        try await pool.storage { (lane) throws(PostgreSQLError) in
            try await lane.runAgain { (connection, _) throws(PostgreSQLError) in try connection.addFirst(key, schema) }
        }
    }
}
