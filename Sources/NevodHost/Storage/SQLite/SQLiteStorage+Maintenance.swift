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

    /// What ``verify()`` has found.
    public struct Verification: Sendable {
        /// How many values there are, and open.
        public internal(set) var values = 0
        /// What is wrong, for people, each naming the key or the file. Empty: nothing.
        public internal(set) var problems: [String] = []
    }

    /// Reads all of the store: whether the database is whole, and each value opens for its key and version.
    public func verify() async throws -> Verification {
        let connection = connection
        let path = path
        return try await withCurrentKey { (opened) throws(StorageError) in
            var found = Verification()
            guard try connection.database.sealedKey()?.number == opened.number else { return nil }
            try connection.database.run("PRAGMA integrity_check(100)") { row in
                if row.text(0) != "ok" { found.problems.append("\(path): \(row.text(0))") }
            }
            try connection.database.forEachEntry { (key, entry) throws(StorageError) in
                do throws(StorageError) {
                    if try opened.open(entry, key, in: path) != nil { found.values += 1 }
                } catch {
                    found.problems.append(error.description)
                }
            }
            return found
        }
    }

    /// Gives the store another data key, wrapped by `source`, and seals every value anew: all, or none. Other processes that use
    /// the store go on if they were given this source as well.
    public func rekey(_ source: any StoreKeySource) async throws {
        let (connection, path) = (connection, path)
        let new = SealingKey.random()
        guard let (old, _) = try await connection.sealedKey() else {
            throw StorageError(.damaged, path, problem: "has no key", remedy: "put it back from a backup")
        }
        let sealed = try await SealedKey.make(new, of: old.store, with: [source])
        try await withCurrentKey { (opened) throws(StorageError) in
            let next = OpenedKey(store: opened.store, number: opened.number + 1, kind: sealed.kind, key: new)
            defer { connection.counters.changeAll() }
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
        // What was sealed with the old key goes from the log as well.
        try await connection.thread.run { () throws(StorageError) in
            try connection.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try await openKey(with: source)
    }

    /// Writes all values into another store, one file that is sealed with a key of its own: for a backup, or another machine.
    ///
    /// - Parameters:
    ///   - path: where there is nothing yet.
    ///   - source: a ``Passphrase`` is what can be carried to another machine.
    /// - Returns: how many values there are.
    @discardableResult
    public func export(to path: String, key source: any StoreKeySource) async throws -> Int {
        guard access(path, F_OK) != 0 else {
            throw StorageError(.other, path, problem: "is there already", remedy: "choose another name, or move it away")
        }
        do {
            let copy = try await SQLiteStorage(path: path, keys: [source])
            var count = 0
            for key in try await keys() {
                guard let secret = try await secret(for: key) else { continue }
                try await copy.set(secret, for: key)
                count += 1
            }
            try await copy.becomeOneFile()
            return count
        } catch {
            for end in ["", "-wal", "-shm", "-changes"] { unlink(path + end) }
            throw error
        }
    }

    /// Takes over the values of an exported store.
    ///
    /// - Parameters:
    ///   - path: of the file that ``export(to:key:)`` has written.
    ///   - source: of its key.
    ///   - replacing: whether a value takes the place of one that is there.
    /// - Returns: how many were taken, and how many stayed because there was one.
    public func importValues(
        from path: String, key source: any StoreKeySource, replacing: Bool = false
    ) async throws -> (taken: Int, kept: Int) {
        guard access(path, F_OK) == 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        let other = try await SQLiteStorage(path: path, keys: [source])
        var (taken, kept) = (0, 0)
        for key in try await other.keys() {
            guard let secret = try await other.secret(for: key) else { continue }
            if replacing {
                try await set(secret, for: key)
                taken += 1
            } else if try await replace(nil as Secret?, with: secret, for: key) {
                taken += 1
            } else {
                kept += 1
            }
        }
        try await other.becomeOneFile()
        return (taken, kept)
    }

    private func becomeOneFile() async throws {
        let (connection, path) = (connection, path)
        try await connection.thread.run { () throws(StorageError) in
            try connection.database.run("PRAGMA journal_mode = DELETE")
            unlink("\(path)-changes")
        }
    }
}

extension SQLiteDatabase {
    /// In the order of the keys, also if `body` changes them: some thousand at a time.
    func forEachEntry(_ body: (StorageKey, SQLiteEntry) throws(StorageError) -> Void) throws(StorageError) {
        var last: String?
        while true {
            var entries: [(StorageKey, SQLiteEntry)] = []
            let condition = last == nil ? "" : "WHERE key > ?"
            try run(
                "SELECT key, version, sealed FROM entry \(condition) ORDER BY key LIMIT 1000", last.map { [.text($0)] } ?? []
            ) { row in
                entries.append(
                    (
                        StorageKey(rawValue: row.text(0)),
                        SQLiteEntry(version: row.integer(1), sealed: row.isNull(2) ? nil : row.blob(2))
                    ))
            }
            guard let end = entries.last else { return }
            for (key, entry) in entries { try body(key, entry) }
            last = end.0.rawValue
        }
    }
}
