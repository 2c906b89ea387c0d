internal import Glibc
internal import NevodSupport

extension SQLiteStorage {
    /// Under which something is stored, in the order of their UTF-8.
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

    /// Reads all of the store as it is at one instant: whether the database is whole, and each value opens for its key and version.
    public func verify() async throws -> StoreVerification {
        let connection = connection
        let path = path
        return try await withCurrentKey { (opened) throws(StorageError) in
            // Values that another process seals anew meanwhile would look damaged.
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

    /// Gives the store another data key, wrapped by `source`, and seals every value anew: all, or none. Other processes that use
    /// the store go on if they were given this source as well.
    ///
    /// - Throws: ``StorageError``; `other` if the key of `source` is the one that the store has already.
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
        // What was sealed with the old key goes from the log as well.
        try await connection.thread.run { () throws(StorageError) in
            try connection.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    /// Writes all values into another store, one file that is sealed with a key of its own: for a backup, or another machine.
    ///
    /// - Parameters:
    ///   - path: where there is nothing yet.
    ///   - source: a ``Passphrase`` is what can be carried to another machine.
    /// - Returns: how many values there are.
    @discardableResult
    public func export(to path: String, key source: any StoreKeySource) async throws -> Int {
        try await exportValues(of: try await keys(), to: path, key: source)
    }

    /// Takes over the values of an exported store, which is only read: all, or, after a failure, none.
    ///
    /// - Parameters:
    ///   - path: of the file that ``export(to:key:)`` has written.
    ///   - source: of its key.
    ///   - replacing: whether a value takes the place of one that is there.
    /// - Returns: how many were taken, and how many stayed because there was one.
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

    /// All of them, or none: one wait for the device instead of one for each.
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

    func becomeOneFile() async throws {
        let (connection, path) = (connection, path)
        try await connection.thread.run { () throws(StorageError) in
            try connection.database.run("PRAGMA journal_mode = DELETE")
            unlink("\(path)-changes")
        }
    }
}

extension SQLiteDatabase {
    /// Values that don't open under their names.
    ///
    /// - Parameter limit: of the values; where there are more, none is looked at.
    func strays(_ opened: OpenedKey, limit: Int64) throws(StorageError) -> [SealedEntry] {
        try snapshot { () throws(StorageError) in
            var count: Int64 = 0
            try run("SELECT count(*) FROM (SELECT 1 FROM entry LIMIT ?)", [.integer(limit + 1)]) { count = $0.integer(0) }
            guard count <= limit else { return [] }
            try run("PRAGMA integrity_check(1)") { (row) throws(StorageError) in
                guard row.text(0) != "ok" else { return }
                throw StorageError(
                    .damaged, path, problem: "is damaged: \(row.text(0))", remedy: "put it back from a backup")
            }
            var strays: [SealedEntry] = []
            try forEachEntry { key, entry in
                if (try? opened.open(entry, key, in: path)) == nil, entry.sealed != nil { strays.append(entry) }
            }
            return strays
        }
    }

    /// In the order of the keys, also if `body` changes them: some thousand at a time.
    func forEachEntry(_ body: (StorageKey, SealedEntry) throws(StorageError) -> Void) throws(StorageError) {
        var last: StorageKey?
        while case let entries = try entries(after: last), !entries.isEmpty {
            for (key, entry) in entries { try body(key, entry) }
            last = entries.last?.key
        }
    }

    /// Some thousand, in the order of the keys. None: there are no more.
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
        // In a damaged one this would go round and round.
        if let last, let next = entries.last?.key, !last.rawValue.utf8.lexicographicallyPrecedes(next.rawValue.utf8) {
            throw StorageError(.damaged, path, problem: "its entries are not in order", remedy: "put it back from a backup")
        }
        return entries
    }

    /// All that `body` reads is as it was at one instant, whatever others write meanwhile. It may not write.
    func snapshot<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        try execute("BEGIN")
        // SQLite has ended it by itself after some failures.
        defer { try? execute("ROLLBACK") }
        return try body()
    }
}
