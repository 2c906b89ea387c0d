/// The layout of the database, and its migration from earlier layouts.
///
/// A removed entry stays, without a value: its version keeps increasing, so that a process with an old copy of the value learns of
/// the removal. The length of the sealed value is stored beside it, so that a value that damage has turned into NULL isn't taken for
/// a removed one.
package struct SQLiteSchema: Sendable {
    /// The statements that migrate from layout n to n + 1; the first create layout 1. Never changed once released.
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

    /// Migrates the database to this layout. Keeps a backup of the old layout beside it, unless it is a copy itself.
    func migrate(_ database: SQLiteDatabase, isCopy: Bool = false) throws(StorageError) {
        var version = try Self.version(of: database)
        guard version != self.version else { return }
        guard version < self.version else {
            throw StorageError(
                .damaged, database.path,
                problem: "has layout \(version), and this program supports none later than \(self.version)",
                remedy: "use the newer program that wrote it")
        }
        if version > 0, !isCopy { try backUp(database, version) }
        try database.transaction { () throws(StorageError) in
            // Another process may have migrated it meanwhile.
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

    /// Refuses a database with tables of another program.
    func checkEmpty(_ database: SQLiteDatabase) throws(StorageError) {
        var tables: Int64 = 0
        // One statement, so that both are read as of one instant while another process creates the store.
        try database.run("SELECT count(*) FROM sqlite_schema WHERE (SELECT user_version FROM pragma_user_version) = 0") {
            tables = $0.integer(0)
        }
        guard tables == 0 else {
            throw StorageError(
                .damaged, database.path, problem: "is another program's database, or was damaged",
                remedy: "choose another path, or restore it from a backup")
        }
    }

    private func backUp(_ database: SQLiteDatabase, _ version: Int) throws(StorageError) {
        try database.copy(to: "\(database.path).layout-\(version)")
    }
}
