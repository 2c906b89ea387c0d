internal import Glibc

/// An open store: the database and what stands beside it.
final class SQLiteConnection: Sendable {
    // Used on the thread alone.
    nonisolated(unsafe) let database: SQLiteDatabase
    let counters: ChangeCounters
    let thread: StorageThread

    private init(_ database: SQLiteDatabase, _ counters: ChangeCounters, _ thread: StorageThread) {
        self.database = database
        self.counters = counters
        self.thread = thread
    }

    static func open(_ path: String, _ schema: SQLiteSchema) async throws(StorageError) -> SQLiteConnection {
        let thread = StorageThread()
        return try await thread.run { () throws(StorageError) in
            try prepare(path)
            let database = try SQLiteDatabase(path)
            // Readers don't wait for the writer; a commit is on the device when it returns; what is removed is overwritten.
            for pragma in ["journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "temp_store = MEMORY"] {
                try database.run("PRAGMA \(pragma)")
            }
            try schema.migrate(database)
            return SQLiteConnection(database, try ChangeCounters("\(path)-changes"), thread)
        }
    }

    /// The files are ours alone before SQLite opens them: it gives those beside the database the database's mode.
    private static func prepare(_ path: String) throws(StorageError) {
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw StorageError(.other, path, problem: "is not an absolute path of a file")
        }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try PrivateDirectory.make(String(path[..<slash]))
        }
        try PrivateFile.makeEmpty(path)
        for beside in ["-wal", "-shm", "-journal"] {
            let file = Glibc.open(path + beside, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            if file >= 0 {
                _ = try PrivateFile(file, .file, path: path + beside)
            } else if errno != ENOENT {
                throw StorageError(path + beside, "can't be opened", errno: errno)
            }
        }
    }
}

extension SQLiteConnection: SealedKeyKeeping {
    func sealedKey() async throws(StorageError) -> (SealedKey, number: Int64)? {
        try await thread.run { () throws(StorageError) in try self.database.sealedKey() }
    }

    func addFirst(_ key: SealedKey) async throws(StorageError) {
        try await thread.run { () throws(StorageError) in
            try self.database.transaction { () throws(StorageError) in
                if try self.database.sealedKey() == nil { try self.database.save(key, number: 1) }
            }
        }
    }
}

extension SQLiteDatabase {
    func entry(for key: StorageKey) throws(StorageError) -> SealedEntry {
        var entry = SealedEntry()
        try run(
            """
            SELECT key_number, version, sealed FROM store LEFT JOIN entry ON key = ?
            """, [.text(key.rawValue)]
        ) { row in
            entry = SealedEntry(
                version: row.integer(1), sealed: row.isNull(2) ? nil : row.blob(2), keyNumber: row.integer(0))
        }
        return entry
    }

    func save(_ sealed: [UInt8]?, for key: StorageKey, _ version: Int64) throws(StorageError) {
        try run(
            """
            INSERT INTO entry (key, version, sealed) VALUES (?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET version = excluded.version, sealed = excluded.sealed
            """, [.text(key.rawValue), .integer(version), sealed.map(SQLiteValue.blob) ?? .null])
    }

    func sealedKey() throws(StorageError) -> (SealedKey, number: Int64)? {
        var found: (SealedKey, Int64)?
        var isDamaged = false
        try run("SELECT id, key_number, key_kind, key_salt, key_sealed FROM store") { row in
            guard let store = StoreIdentifier(row.blob(0)) else {
                isDamaged = true
                return
            }
            found = (SealedKey(store: store, kind: row.text(2), salt: row.blob(3), sealed: row.blob(4)), row.integer(1))
        }
        guard !isDamaged else {
            throw StorageError(.damaged, path, problem: "has no identity", remedy: "put it back from a backup")
        }
        return found
    }

    func save(_ key: SealedKey, number: Int64) throws(StorageError) {
        try run(
            """
            INSERT INTO store (only, id, key_number, key_kind, key_salt, key_sealed) VALUES (1, ?, ?, ?, ?, ?)
            ON CONFLICT (only) DO UPDATE SET key_number = excluded.key_number, key_kind = excluded.key_kind,
                key_salt = excluded.key_salt, key_sealed = excluded.key_sealed
            """,
            [.blob(key.store.bytes), .integer(number), .text(key.kind), .blob(key.salt), .blob(key.sealed)])
    }
}
