internal import Glibc
public import NevodSupport

/// Stores all tokens in one sealed file: for command lines, and for services on one machine. Several processes may use it at
/// once.
///
/// ```swift
/// let storage = try await SQLiteStorage(path: "/var/lib/app/tokens.db", keys: [KeyFile(path: "/etc/app/tokens.key")])
/// ```
///
/// Each value is sealed with AES-256-GCM for its key and version, so that a value doesn't open if it is moved to another key. A
/// sealed register lists the version of each value, so that a removed or replaced value can't be put back. The sealing key is in
/// the store itself, wrapped by a key from a ``StoreKeySource``. Keys and the times of changes are not hidden: put no secret into
/// a ``StorageKey``.
///
/// A write that has returned is on the device; a crash at any instant leaves the old value or the new one. Reading a value again
/// costs two system calls while it hasn't changed, and doesn't touch the database. Blocking calls run on a thread of the store's
/// own.
///
/// While changes are observed, the changes that other processes make to the keys in use here are reported. A watch on the store's
/// folder finds them, without queries. If the system has no watch left (`fs.inotify.max_user_instances`), only this object's
/// changes are reported.
///
/// If the store's files are moved, removed or replaced while it is open, calls fail with `unavailable` before they use them.
public final class SQLiteStorage: SealedStorage, ObservableStorage {
    public typealias Value = [UInt8]

    /// The longest value, in bytes.
    public static let maximumSize = 1 << 20

    /// The database's layout, counted from 1. A database of an earlier layout is migrated when it is opened.
    package static var layout: Int { SQLiteSchema.current.version }

    /// The path of the database.
    public let path: String
    let connection: SQLiteConnection
    private let locks: RenewalLocks
    private let cache = KnownSecrets()
    private let observers: StorageObservers
    let keyring: StoreKeyring
    let count: StoreCount

    /// Opens the store, or creates it.
    ///
    /// - Parameters:
    ///   - path: The database. A missing folder is created with mode 0700.
    ///   - keys: A new store is created with the first available source. An existing one opens only with the kind of key that it
    ///     was created with.
    /// - Throws: ``StorageError``: `permissions` if others can read the file, or the key is another store's; `damaged` if the
    ///   file is not a store; and errors of the source.
    public convenience init(path: String, keys: [any StoreKeySource]) async throws {
        try await self.init(path: path, keys: keys, mustExist: false)
    }

    /// - Parameter mustExist: Whether to open only an existing store, and never create one.
    package init(
        path: String, keys: [any StoreKeySource], schema: SQLiteSchema = .current, mustExist: Bool
    ) async throws {
        self.path = path
        connection = try await SQLiteConnection.open(path, schema, mustExist: mustExist)
        locks = RenewalLocks(path: "\(path)-renewals", guardedBy: "\(path)-changes")
        observers = StorageObservers { [connection, cache] notify in StoreWatch.begin(connection, cache, notify) }
        keyring = try await StoreKeyring(of: path, in: connection, sources: keys)
        count = StoreCount(of: path)
        try await makeRegister()
    }

    /// The kind of the key that seals the store: ``StoreKeySource/kind``.
    public var keyKind: String { keyring.kind }

    // MARK: Values

    public func secret(for key: StorageKey) async throws -> Secret? {
        let connection = connection
        let counters = connection.counters
        if let known = cache.secret(for: key, count: counters.count(of: key)) { return known }
        return try await withCurrentKey { (opened) throws(StorageError) -> Secret?? in
            let count = counters.count(of: key)
            guard let (head, secret, _) = try SQLiteRegister.read(key, connection.database, opened) else { return nil }
            try self.count.check(head)
            self.cache.remember(secret, for: key, count: count)
            return .some(secret)
        }
    }

    public func set(_ secret: Secret?, for key: StorageKey) async throws {
        _ = try await write(secret, for: key) { _ in true }
    }

    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await write(secret, for: key) { (register) throws(StorageError) in try register.secret(for: key) == expected }
    }

    private func write(
        _ secret: Secret?, for key: StorageKey,
        if condition: @escaping @Sendable (inout SQLiteRegister) throws(StorageError) -> Bool
    ) async throws -> Bool {
        if let secret { try Self.check(secret, key) }
        return try await change { (changes) throws(StorageError) in
            guard try condition(&changes.register) else { return false }
            try changes.set(secret, for: key)
            return true
        }
    }

    /// Runs the body in a transaction: stores all of its changes, or none.
    func change<Result: Sendable>(
        _ body: @escaping @Sendable (inout StoreChanges) throws(StorageError) -> Result
    ) async throws -> Result {
        let (connection, count) = (connection, count)
        await count.readKept(in: keyring)
        let (result, head, hasRemoved, changed) = try await withCurrentKey {
            (opened) throws(StorageError) -> (Result, RegisterHead, Bool, [StorageKey])? in
            var marks: [(StorageKey, UInt64)] = []
            defer { for (key, mark) in marks { connection.counters.end(key, mark) } }
            let outcome = try connection.database.transaction {
                () throws(StorageError) -> (Result, RegisterHead, Bool, [StorageKey])? in
                guard var register = try SQLiteRegister(connection.database, opened) else { return nil }
                try count.check(register.head)
                register.noteTurnedBack(from: count.known(opened))
                var changes = StoreChanges(register, connection.counters)
                defer { marks = changes.marks }
                let result = try body(&changes)
                guard !changes.marks.isEmpty else { return (result, changes.register.head, false, []) }
                try changes.register.save()
                return (result, changes.register.head, changes.hasRemoved, changes.marks.map(\.0))
            }
            if let outcome { try count.check(outcome.1) }
            return outcome
        }
        for key in changed { cache.note(key) }
        for key in changed { observers.notify(key) }
        await keyring.keep(head.changes, hasRemoved: hasRemoved)
        return result
    }

    /// Makes the register of a new store, or of a store with layout 1.
    private func makeRegister() async throws {
        let connection = connection
        try await withCurrentKey { (opened) throws(StorageError) -> Void? in
            let database = connection.database
            var hasRegister = false
            try database.run("SELECT 1 FROM register LIMIT 1") { _ in hasRegister = true }
            if hasRegister, connection.counters.isMarked { return () }
            return try database.transaction { () throws(StorageError) in
                connection.counters.mark()
                return try SQLiteRegister.make(database, opened)
            }
        }
    }

    static func check(_ secret: Secret, _ key: StorageKey) throws(StorageError) {
        try StorageError.checkSize(secret.count, upTo: maximumSize, of: "\(key)")
    }

    /// The keys whose values change from now on, whichever process changes them. Another process's changes are reported for the
    /// keys that this object reads or changes from now on, or has read lately. An unchanged key may be reported together with a
    /// changed one.
    public func changes() -> StorageChanges {
        observers.changes()
    }

    /// Locks a file with the database's path and the suffix `-renewals`.
    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        let connection = connection
        // Checked under the lock, because a token would be lost if it were exchanged and then couldn't be saved.
        let check = { @Sendable in try await connection.thread.run { () throws(StorageError) in try connection.checkFiles() } }
        try await locks.withLock(for: key, check: check) {
            // Otherwise a stale token could be used a second time: the cache relies on the file of change counters, which may be
            // gone.
            cache.forget(key)
            await body()
        }
    }

    func noteUse(of key: StorageKey) {
        cache.note(key)
    }

    // MARK: The key

    /// Runs the body on the storage's thread with the current key.
    ///
    /// - Parameter body: Returns nil if the store has a new key now; it is then called again with that key.
    func withCurrentKey<Result: Sendable>(
        _ body: @escaping @Sendable (OpenedKey) throws(StorageError) -> Result?
    ) async throws -> Result {
        let connection = connection
        return try await keyring.withCurrentKey { opened in
            try await connection.thread.run { () throws(StorageError) in
                try connection.checkFiles()
                return try body(opened)
            }
        }
    }

    /// Opens the store's new key, and clears the cache.
    func openKey(of source: any StoreKeySource) async throws {
        try await keyring.reopen(with: source)
        cache.forget()
    }
}

extension SQLiteStorage: VersionedStorage {
    /// Always reads the database.
    public func versionedSecret(for key: StorageKey) async throws -> (secret: Secret?, version: Int64) {
        let (connection, count) = (connection, count)
        noteUse(of: key)
        return try await withCurrentKey { (opened) throws(StorageError) -> (secret: Secret?, version: Int64)? in
            guard let (head, secret, version) = try SQLiteRegister.read(key, connection.database, opened) else { return nil }
            try count.check(head)
            return (secret, Int64(clamping: version))
        }
    }
}

/// The changes of one transaction. Used on the store's thread.
struct StoreChanges {
    var register: SQLiteRegister
    private let counters: ChangeCounters
    /// The changed keys, with the marks that their changes began under.
    private(set) var marks: [(StorageKey, UInt64)] = []
    private(set) var hasRemoved = false

    init(_ register: SQLiteRegister, _ counters: ChangeCounters) {
        self.register = register
        self.counters = counters
    }

    /// Stores a value; nil removes it.
    mutating func set(_ secret: Secret?, for key: StorageKey) throws(StorageError) {
        marks.append((key, counters.begin(key)))
        try register.set(secret, for: key)
        if secret == nil { hasRemoved = true }
    }
}
