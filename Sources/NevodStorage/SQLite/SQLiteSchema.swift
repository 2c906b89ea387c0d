/// The layout of the database, and its migration from earlier layouts.
///
/// - Layout 1: `entry` kept a removed value as a row without one, and the length of each value beside it.
/// - Layout 2: `register` holds the pages of a ``SQLiteRegister``, which says what `entry` must hold. The rows of removed values are
///   gone. A program for layout 1 that is still running fails, since it finds no column `length`, and so can't change values behind
///   the register's back.
package struct SQLiteSchema: Sendable {
    /// The statements that migrate from layout n to n + 1; the first create layout 1. Never changed once released.
    package let steps: [String]
    /// The statements that describe the tables of the last layout by their names; nil to ask SQLite what the steps make.
    private let tables: [String: String]?

    package init(steps: [String]) {
        self.init(steps: steps, tables: nil)
    }

    private init(steps: [String], tables: [String: String]?) {
        self.steps = steps
        self.tables = tables
    }

    package static let current = SQLiteSchema(
        steps: [
            """
            \(store);
            CREATE TABLE entry (
                key TEXT PRIMARY KEY,
                version INTEGER NOT NULL,
                sealed BLOB,
                length INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """,
            // A value that damage has made a NULL, or cut, becomes one that does not open.
            """
            ALTER TABLE entry RENAME TO entry_1;
            \(entry);
            INSERT INTO entry
                SELECT key, version, CASE WHEN sealed IS NOT NULL AND length(sealed) = length THEN sealed ELSE x'' END
                FROM entry_1 WHERE NOT (sealed IS NULL AND length = 0);
            DROP TABLE entry_1;
            \(register);
            """,
        ],
        tables: ["store": store, "entry": entry, "register": register])

    static let store = """
        CREATE TABLE store (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            id BLOB NOT NULL,
            key_number INTEGER NOT NULL,
            key_kind TEXT NOT NULL,
            key_salt BLOB NOT NULL,
            key_sealed BLOB NOT NULL
        ) STRICT
        """
    private static let entry = """
        CREATE TABLE entry (
            key TEXT PRIMARY KEY,
            version INTEGER NOT NULL,
            sealed BLOB NOT NULL
        ) STRICT, WITHOUT ROWID
        """
    private static let register = """
        CREATE TABLE register (
            page INTEGER PRIMARY KEY,
            sealed BLOB NOT NULL
        ) STRICT
        """

    var version: Int { steps.count }

    /// Migrates the database to this layout, after checking that its tables are those of the layout that it says it has. Keeps a backup
    /// of the old layout beside it, unless it is a copy itself.
    func migrate(_ database: SQLiteDatabase, isCopy: Bool = false) throws(StorageError) {
        var version = try checkedLayout(of: database)
        if version == self.version { return }
        if version > 0, !isCopy { try backUp(database, version) }
        try database.transaction { () throws(StorageError) in
            // Another process may have migrated it meanwhile.
            version = try checkedVersion(of: database)
            for step in steps.dropFirst(version) { try database.execute(step) }
            try database.execute("PRAGMA user_version = \(self.version)")
        }
    }

    /// - Returns: the number of the layout whose tables the database has; 0 for an empty one.
    private func checkedLayout(of database: SQLiteDatabase) throws(StorageError) -> Int {
        while true {
            let version = try checkedVersion(of: database)
            do throws(StorageError) {
                if version > 0 { try check(database, version) }
                return version
            } catch {
                // Another process may have migrated it since the number was read. Numbers only grow.
                guard try checkedVersion(of: database) > version else { throw error }
            }
        }
    }

    /// - Returns: from 0, for an empty database, to this layout's number.
    /// - Throws: `damaged` for any other.
    func checkedVersion(of database: SQLiteDatabase) throws(StorageError) -> Int {
        let version = try Self.version(of: database)
        guard version >= 0 else { throw Self.isForeign(database.path) }
        guard version <= self.version else {
            throw StorageError(
                .damaged, database.path,
                problem: "has layout \(version), and this program supports none later than \(self.version)",
                remedy: "use the newer program that wrote it")
        }
        return version
    }

    /// Checks that the database has exactly the tables of a layout. A view, or a table with an expression in it, would run whatever
    /// it holds when it is read.
    func check(_ database: SQLiteDatabase, _ version: Int) throws(StorageError) {
        let expected = try tables(at: version)
        var found: [String: String] = [:]
        var problem: String?
        // Longer statements, and more of them, are not read.
        try database.run("SELECT type, name, substr(sql, 1, 10000) FROM sqlite_schema LIMIT 100") { row in
            let (type, name) = (row.text(0), row.text(1))
            found[name] = row.text(2)
            guard problem == nil else { return }
            if type != "table" || expected[name] == nil {
                problem = "has a \(type) \"\(Self.shortened(name))\" that no store of layout \(version) has"
            } else if expected[name] != row.text(2) {
                problem = "its table \"\(name)\" is not that of layout \(version): something else has changed its columns"
            }
        }
        if problem == nil, let name = expected.keys.sorted().first(where: { found[$0] == nil }) {
            problem = "has no table \"\(name)\", which a store of layout \(version) has"
        }
        guard let problem else { return }
        throw StorageError(.damaged, database.path, problem: problem, remedy: StorageError.restoring)
    }

    private static func shortened(_ name: String) -> String { name.count > 40 ? "\(name.prefix(40))…" : name }

    private func tables(at version: Int) throws(StorageError) -> [String: String] {
        if version == self.version, let tables { return tables }
        let example = try SQLiteDatabase(":memory:")
        for step in steps.prefix(version) { try example.execute(step) }
        var tables: [String: String] = [:]
        try example.run("SELECT name, sql FROM sqlite_schema") { tables[$0.text(0)] = $0.text(1) }
        return tables
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
        guard tables == 0 else { throw Self.isForeign(database.path) }
    }

    private static func isForeign(_ path: String) -> StorageError {
        StorageError(
            .damaged, path, problem: "is another program's database, or was damaged",
            remedy: "choose another path, or \(StorageError.restoring)")
    }

    private func backUp(_ database: SQLiteDatabase, _ version: Int) throws(StorageError) {
        try database.copy(to: "\(database.path).layout-\(version)")
    }
}
