internal import Glibc
internal import NevodSupport

extension SQLiteStorage {
    /// The keys that have a value, in the order of their UTF-8.
    public func keys(withPrefix prefix: String = "") async throws -> [StorageKey] {
        let connection = connection
        return try await connection.thread.run { () throws(StorageError) in
            var keys: [StorageKey] = []
            try connection.database.forEachEntry { (key, entry) throws(StorageError) in
                if entry.sealed != nil, key.rawValue.utf8.starts(with: prefix.utf8) { keys.append(key) }
            }
            return keys
        }
    }

    /// Reads the whole store as of one instant, and checks that the database is intact and each value opens for its key and version.
    public func verify() async throws -> StoreVerification {
        let connection = connection
        let path = path
        return try await withCurrentKey { (opened) throws(StorageError) in
            // Without a snapshot, values that another process seals again meanwhile would look damaged.
            try connection.database.snapshot { () throws(StorageError) -> StoreVerification? in
                var found = StoreVerification()
                guard try connection.database.sealedKey()?.number == opened.number else { return nil }
                try found.noteDamage { (found) throws(StorageError) in
                    try connection.database.run("PRAGMA integrity_check(100)") { row in
                        if row.text(0) != "ok" { found.problems.append("\(path): \(row.text(0))") }
                    }
                }
                try found.noteDamage { (found) throws(StorageError) in
                    try connection.database.forEachEntry { (key, entry) throws(StorageError) in
                        found.check(entry, of: key, in: path, opened)
                    }
                }
                return found
            }
        }
    }

    /// Gives the store a new data key, wrapped by `source`, and seals every value again: all, or none. Other processes continue to
    /// work if they were given this source as well.
    ///
    /// - Throws: ``StorageError``; `other` if the key of `source` already wraps the store's key.
    public func rekey(_ source: any StoreKeySource) async throws {
        let (connection, path, keyring) = (connection, path, keyring)
        try await keyring.withCurrentKey { opened in
            let (sealed, next) = try await keyring.successor(of: opened, wrappedBy: source)
            return try await connection.thread.run { () throws(StorageError) in
                return try connection.database.transaction { () throws(StorageError) -> Void? in
                    guard try connection.database.sealedKey()?.number == opened.number else { return nil }
                    try connection.database.forEachEntry { (key, entry) throws(StorageError) in
                        guard let secret = try opened.open(entry, key, in: path) else { return }
                        try connection.database.save(next.seal(secret, key, entry.version), for: key, entry.version)
                    }
                    try connection.database.save(sealed, number: next.number)
                    return ()
                }
            }
        }
        try await openKey(of: source)
        // Removes values sealed with the old key from the log as well.
        try await connection.thread.run { () throws(StorageError) in
            try connection.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    /// Exports all values to another store in one file, sealed with its own key: for a backup, or another machine.
    ///
    /// - Parameters:
    ///   - path: A path that doesn't exist yet.
    ///   - source: The source of the file's key; a ``Passphrase`` can be used on another machine.
    /// - Returns: the number of values.
    @discardableResult
    public func export(to path: String, key source: any StoreKeySource) async throws -> Int {
        try await exportValues(of: try await keys(), to: path, key: source)
    }

    /// Imports the values of an exported store, which is only read: all of them, or none after a failure.
    ///
    /// - Parameters:
    ///   - path: The file that ``export(to:key:)`` has written.
    ///   - source: The source of the file's key.
    ///   - replacing: Whether an imported value replaces an existing one.
    /// - Returns: the number of imported values, and of existing ones that were kept.
    public func importValues(
        from path: String, key source: any StoreKeySource, replacing: Bool = false
    ) async throws -> (taken: Int, kept: Int) {
        let export = try await SQLiteExport(path, key: source)
        let (connection, counters, ownPath) = (connection, connection.counters, self.path)
        return try await withCurrentKey { (opened) throws(StorageError) in
            let database = connection.database
            var changes: [(StorageKey, UInt64)] = []
            defer { for (key, change) in changes { counters.end(key, change) } }
            return try database.transaction { () throws(StorageError) -> (taken: Int, kept: Int)? in
                guard try database.sealedKey()?.number == opened.number else { return nil }
                var (taken, kept) = (0, 0)
                var last: StorageKey?
                while case let values = try export.values(after: last), !values.isEmpty {
                    for (key, secret) in values {
                        try Self.check(secret, key)
                        let entry = try database.entry(for: key)
                        if !replacing, try opened.open(entry, key, in: ownPath) != nil {
                            kept += 1
                            continue
                        }
                        let version = entry.version + 1
                        changes.append((key, counters.begin(key)))
                        try database.save(opened.seal(secret, key, version), for: key, version)
                        taken += 1
                    }
                    last = values.last?.key
                }
                return (taken, kept)
            }
        }
    }

    /// Stores all values, or none, and waits for the device once instead of once for each.
    package func setAll(_ values: [(key: StorageKey, secret: Secret)]) async throws {
        let (connection, counters) = (connection, connection.counters)
        try await withCurrentKey { (opened) throws(StorageError) in
            var changes: [(StorageKey, UInt64)] = []
            defer { for (key, change) in changes { counters.end(key, change) } }
            return try connection.database.transaction { () throws(StorageError) -> Void? in
                for (key, secret) in values {
                    let entry = try connection.database.entry(for: key)
                    guard entry.keyNumber == opened.number else { return nil }
                    let version = entry.version + 1
                    changes.append((key, counters.begin(key)))
                    try connection.database.save(opened.seal(secret, key, version), for: key, version)
                }
                return ()
            }
        }
    }

    /// Removes the files beside the database.
    func becomeOneFile() async throws {
        let (connection, path) = (connection, path)
        try await connection.thread.run { () throws(StorageError) in
            try connection.database.run("PRAGMA journal_mode = DELETE")
            unlink("\(path)-changes")
        }
    }
}

extension SQLiteDatabase {
    /// Finds the values that don't open under their keys.
    ///
    /// - Parameter limit: The largest number of values to check; with more, none is checked.
    func strays(_ opened: OpenedKey, limit: Int64) throws(StorageError) -> [SealedEntry] {
        try snapshot { () throws(StorageError) in
            var count: Int64 = 0
            try run("SELECT count(*) FROM (SELECT 1 FROM entry LIMIT ?)", [.integer(limit + 1)]) { count = $0.integer(0) }
            guard count <= limit else { return [] }
            try run("PRAGMA integrity_check(1)") { (row) throws(StorageError) in
                guard row.text(0) != "ok" else { return }
                throw StorageError(
                    .damaged, path, problem: "is damaged: \(row.text(0))", remedy: "restore it from a backup")
            }
            var strays: [SealedEntry] = []
            try forEachEntry { key, entry in
                if (try? opened.open(entry, key, in: path)) == nil, entry.sealed != nil { strays.append(entry) }
            }
            return strays
        }
    }

    /// Reads all entries in the order of their keys, a thousand for each query. The body may change them.
    func forEachEntry(_ body: (StorageKey, SealedEntry) throws(StorageError) -> Void) throws(StorageError) {
        var last: StorageKey?
        while case let entries = try entries(after: last), !entries.isEmpty {
            for (key, entry) in entries { try body(key, entry) }
            last = entries.last?.key
        }
    }

    /// The next thousand entries, in the order of their keys; none at the end.
    func entries(after last: StorageKey?) throws(StorageError) -> [(key: StorageKey, entry: SealedEntry)] {
        var entries: [(key: StorageKey, entry: SealedEntry)] = []
        let condition = last == nil ? "" : "WHERE key > ?"
        try run(
            "SELECT key, version, sealed, length FROM entry \(condition) ORDER BY key LIMIT 1000",
            last.map { [.text($0.rawValue)] } ?? []
        ) { row in
            entries.append(
                (StorageKey(rawValue: row.text(0)), SealedEntry(version: row.integer(1), sealed: row.sealed(2))))
        }
        // In a damaged database the iteration might never end.
        if let last, let next = entries.last?.key, !last.rawValue.utf8.lexicographicallyPrecedes(next.rawValue.utf8) {
            throw StorageError(.damaged, path, problem: "its entries are not in order", remedy: "restore it from a backup")
        }
        return entries
    }

    /// Runs a body that reads the database as of one instant, unaffected by concurrent writes. The body must not write.
    func snapshot<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        try execute("BEGIN")
        // After some failures SQLite has ended it by itself.
        defer { try? execute("ROLLBACK") }
        return try body()
    }
}
