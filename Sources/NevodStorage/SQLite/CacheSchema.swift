internal import COpenSSL

/// The tables of a cache's file. A file with another layout is made anew: it holds nothing that can't be fetched again.
enum CacheSchema {
    /// "NvCa". SQLite keeps it in the header of the file, so that a file which is damaged otherwise is known to be a cache's.
    static let applicationID: Int64 = 0x4E76_4361
    static let layout: Int64 = 1

    enum Finding {
        case empty, current
        /// A cache's, which can't be used: it was damaged, or has another layout.
        case unusable(StorageError)
        /// Another program's file, or one that isn't recognized.
        case foreign(StorageError)
    }

    /// The tables and indexes by their names.
    private static let statements = [
        "store": SQLiteSchema.store,
        "state": """
        CREATE TABLE state (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            epoch BLOB NOT NULL,
            changes INTEGER NOT NULL,
            last INTEGER NOT NULL
        ) STRICT
        """,
        "record": """
        CREATE TABLE record (
            id INTEGER PRIMARY KEY,
            resource BLOB NOT NULL,
            part BLOB NOT NULL,
            used INTEGER NOT NULL,
            head BLOB NOT NULL,
            body BLOB NOT NULL
        ) STRICT
        """,
        "record_place": "CREATE INDEX record_place ON record (resource, part)",
        "record_used": "CREATE INDEX record_used ON record (used)",
        "change": """
        CREATE TABLE change (
            resource BLOB PRIMARY KEY,
            number INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
    ]

    static func examine(_ database: SQLiteDatabase) -> Finding {
        var isOurs = false
        do throws(StorageError) {
            let identifier = try database.integer("PRAGMA application_id")
            isOurs = identifier == applicationID
            let tables = try database.integer("SELECT count(*) FROM sqlite_schema")
            if !isOurs {
                return identifier == 0 && tables == 0 ? .empty : .foreign(isForeign(database.path))
            }
            let layout = try database.integer("PRAGMA user_version")
            guard layout == Self.layout, tables == Int64(statements.count), try hasTables(database) else {
                return .unusable(
                    StorageError(
                        .damaged, database.path, problem: "is a cache of layout \(layout), not \(Self.layout), or was changed"))
            }
            return .current
        } catch {
            guard error.code == .damaged else { return .foreign(error) }
            return isOurs ? .unusable(error) : .foreign(isForeign(database.path))
        }
    }

    static func create(in database: SQLiteDatabase) throws(StorageError) {
        // Before the first table: pages that become free can then be given back. There is no log yet, so that the file's header says from
        // the beginning that it is a cache.
        try database.run("PRAGMA auto_vacuum = INCREMENTAL")
        try database.transaction { () throws(StorageError) in
            // Tables before their indexes.
            for statement in statements.values.sorted(by: >) { try database.execute(statement) }
            try database.run(
                "INSERT INTO state (only, epoch, changes, last) VALUES (1, ?, 0, 0)", [.blob(StoreIdentifier.random().bytes)])
            try database.execute("PRAGMA user_version = \(layout)")
            try database.execute("PRAGMA application_id = \(applicationID)")
        }
    }

    /// A view, or a table with an expression in it, would run whatever it holds when it is read.
    private static func hasTables(_ database: SQLiteDatabase) throws(StorageError) -> Bool {
        var isExact = true
        try database.run("SELECT name, substr(sql, 1, 10000) FROM sqlite_schema") { row in
            isExact = isExact && statements[row.text(0)] == row.text(1)
        }
        return isExact
    }

    private static func isForeign(_ path: String) -> StorageError {
        StorageError(
            .damaged, path, problem: "is no cache of this library, or its beginning was damaged",
            remedy: "choose another path, or remove the file")
    }
}

extension SQLiteDatabase {
    /// The integer that a statement returns; 0 without a row.
    func integer(_ statement: String, _ values: [SQLiteValue] = []) throws(StorageError) -> Int64 {
        var number: Int64 = 0
        try run(statement, values) { number = $0.integer(0) }
        return number
    }
}
