/// How the database is laid out, and how one of an earlier layout becomes one of the next.
///
/// An entry that was removed stays, without a value: its version goes on counting, so that who has an old copy of the value learns
/// that it was removed. The length of what is sealed stands beside it: a value that damage has made a NULL isn't taken for one that
/// was removed.
package struct SQLiteSchema: Sendable {
    /// The statements that make layout n + 1 of layout n; the first make it of nothing. Never changed once released.
    package let steps: [String]

    package init(steps: [String]) {
        self.steps = steps
    }

    package static let current = SQLiteSchema(steps: [
        """
        CREATE TABLE store (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            id BLOB NOT NULL,
            key_number INTEGER NOT NULL,
            key_kind TEXT NOT NULL,
            key_salt BLOB NOT NULL,
            key_sealed BLOB NOT NULL
        ) STRICT;
        CREATE TABLE entry (
            key TEXT PRIMARY KEY,
            version INTEGER NOT NULL,
            sealed BLOB,
            length INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
    ])

    var version: Int { steps.count }

    /// Brings the database to this layout. What it was is kept in a file beside it, unless it is a copy itself.
    func migrate(_ database: SQLiteDatabase, isCopy: Bool = false) throws(StorageError) {
        var version = try Self.version(of: database)
        guard version != self.version else { return }
        guard version < self.version else {
            throw StorageError(
                .damaged, database.path,
                problem: "is of layout \(version), and this program knows none later than \(self.version)",
                remedy: "use the newer program that wrote it")
        }
        if version > 0, !isCopy { try backUp(database, version) }
        try database.transaction { () throws(StorageError) in
            // Another process may have done it meanwhile.
            version = try Self.version(of: database)
            for step in steps.dropFirst(version) { try database.execute(step) }
            try database.execute("PRAGMA user_version = \(self.version)")
        }
    }

    static func version(of database: SQLiteDatabase) throws(StorageError) -> Int {
        var version = 0
        try database.run("PRAGMA user_version") { version = Int($0.integer(0)) }
        return version
    }

    /// Somebody else's tables stay as they are.
    func checkEmpty(_ database: SQLiteDatabase) throws(StorageError) {
        var tables: Int64 = 0
        // While another process makes the store, both are what they were, or neither.
        try database.run("SELECT count(*) FROM sqlite_schema WHERE (SELECT user_version FROM pragma_user_version) = 0") {
            tables = $0.integer(0)
        }
        guard tables == 0 else {
            throw StorageError(
                .damaged, database.path, problem: "is another program's database, or was damaged",
                remedy: "choose another path, or put it back from a backup")
        }
    }

    private func backUp(_ database: SQLiteDatabase, _ version: Int) throws(StorageError) {
        try database.copy(to: "\(database.path).layout-\(version)")
    }
}
