/// The tables of a cache's file. A file with another layout is replaced: everything in it can be fetched again.
enum CacheSchema {
    /// "NvCa". SQLite keeps it in the file's header. It identifies a cache's file even if the rest is damaged.
    static let applicationID: Int64 = 0x4E76_4361
    static let layout = 1

    enum Finding {
        case empty, current
        /// A cache's file that can't be used: it was damaged, or has another layout.
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
            if !isOurs {
                let tables = try database.integer("SELECT count(*) FROM sqlite_schema")
                return identifier == 0 && tables == 0 ? .empty : .foreign(isForeign(database.path))
            }
            let layout = try SQLiteSchema.version(of: database)
            guard layout == Self.layout, try database.difference(from: statements, layout: layout) == nil else {
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
        // Must be set before the first table is created, so that free pages can be returned to the system. There is no log yet,
        // so the file's header says from the beginning that it is a cache.
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

    private static func isForeign(_ path: String) -> StorageError {
        StorageError(
            .damaged, path, problem: "is not one of this library's cache files, or its header was damaged",
            remedy: "choose another path, or remove the file")
    }
}
