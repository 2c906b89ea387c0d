internal import Glibc
internal import NevodSupport

extension SQLiteStorage {
    /// The keys that have a value, in the order of their UTF-8.
    public func keys(withPrefix prefix: String = "") async throws -> [StorageKey] {
        let connection = connection
        return try await connection.thread.run { () throws(StorageError) in
            try connection.checkFiles()
            var keys: [StorageKey] = []
            try connection.database.forEachRow { (key, _) throws(StorageError) in
                if key.rawValue.utf8.starts(with: prefix.utf8) { keys.append(key) }
            }
            return keys
        }
    }

    /// Reads the whole store as of one instant. Checks that the database is intact, that each value opens for its key and
    /// version, and that the values are the ones in the store's register. If a count is kept with the key
    /// (``StoreKeySource/count(of:salt:)``), also reports whether the store was turned back.
    public func verify() async throws -> StoreVerification {
        let (connection, count, path) = (connection, count, path)
        await count.readKept(in: keyring)
        return try await withCurrentKey { (opened) throws(StorageError) in
            // Without a snapshot, values that another process reseals meanwhile would look damaged.
            try connection.database.snapshot { () throws(StorageError) -> StoreVerification? in
                var found = StoreVerification()
                guard try connection.database.sealedKey()?.number == opened.number else { return nil }
                try found.noteDamage { (found) throws(StorageError) in
                    try connection.database.run("PRAGMA integrity_check(100)") { row in
                        if row.text(0) != "ok" { found.problems.append("\(path): \(row.text(0))") }
                    }
                }
                try found.noteDamage { (found) throws(StorageError) in
                    guard var register = try SQLiteRegister(connection.database, opened) else { return }
                    if let problem = count.problem(register.head, opened) { found.problems.append(problem) }
                    let missing = try register.check { (_, result) throws(StorageError) in found.note(result) }
                    if missing > 0 { found.problems.append("\(path): \(missing) of its values are missing") }
                }
                return found
            }
        }
    }

    /// Gives the store a new data key, wrapped by `source`, and seals every value again: all of them, or none. Other processes
    /// continue to work if they were given this source too. A store that was turned back is accepted as it is.
    ///
    /// - Throws: ``StorageError``; `other` if the key of `source` already wraps the store's key.
    public func rekey(_ source: any StoreKeySource) async throws {
        let (connection, keyring) = (connection, keyring)
        try await keyring.withCurrentKey { opened in
            let (sealed, next) = try await keyring.successor(of: opened, wrappedBy: source)
            return try await connection.thread.run { () throws(StorageError) in
                try connection.checkFiles()
                return try connection.database.transaction { () throws(StorageError) -> Void? in
                    guard let register = try SQLiteRegister(connection.database, opened) else { return nil }
                    try register.sealedAgain(with: next)
                    try connection.database.save(sealed, number: next.number)
                    return ()
                }
            }
        }
        try await openKey(of: source)
        // Removes values sealed with the old key from the log too.
        try await connection.thread.run { () throws(StorageError) in
            try connection.checkFiles()
            try connection.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    /// Exports all values to another store in one file, sealed with its own key: for a backup, or another machine.
    ///
    /// - Parameters:
    ///   - path: A path that doesn't exist yet.
    ///   - source: The source of the file's key. A ``Passphrase`` can be used on another machine.
    /// - Returns: the number of values.
    @discardableResult
    public func export(to path: String, key source: any StoreKeySource) async throws -> Int {
        try await exportValues(of: try await keys(), to: path, key: source)
    }

    /// Imports the values of an exported store, which is only read. Imports all of them, or none after a failure.
    ///
    /// - Parameters:
    ///   - path: The file that ``export(to:key:)`` has written.
    ///   - source: The source of the file's key.
    ///   - replacing: Whether an imported value replaces an existing one.
    /// - Returns: the number of imported values, and the number of existing values that were kept.
    public func importValues(
        from path: String, key source: any StoreKeySource, replacing: Bool = false
    ) async throws -> (taken: Int, kept: Int) {
        // Reads and checks the whole file before others have to wait.
        let export = try await SQLiteExport(path, key: source)
        return try await change { (changes) throws(StorageError) in
            var (taken, kept) = (0, 0)
            var last: StorageKey?
            while case let values = try export.values(after: last), !values.isEmpty {
                for (key, secret) in values {
                    try Self.check(secret, key)
                    if !replacing, try changes.register.secret(for: key) != nil {
                        kept += 1
                        continue
                    }
                    try changes.set(secret, for: key)
                    taken += 1
                }
                last = values.last?.key
            }
            return (taken, kept)
        }
    }

    /// Stores all values, or none. Waits for the device once instead of once for each value.
    package func setAll(_ values: [(key: StorageKey, secret: Secret)]) async throws {
        try await change { (changes) throws(StorageError) in
            for (key, secret) in values { try changes.set(secret, for: key) }
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
