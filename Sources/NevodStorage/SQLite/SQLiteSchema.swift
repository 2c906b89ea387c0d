/// The layout of the database, and its migration from earlier layouts.
///
/// - Layout 1: a removed value stayed in `entry` as a row without a value, and each row also held the value's length.
/// - Layout 2: `register` holds the pages of a ``SQLiteRegister``, which says what `entry` must hold. The rows of removed values
///   are gone. A program for layout 1 that is still running finds no column `length`, and fails, so it can't change values
///   without updating the register.
package struct SQLiteSchema: Sendable {
    /// The statements that migrate from layout n to n + 1; the first one creates layout 1. Never changed once released.
    package let steps: [String]
    /// The statements that describe the tables of the last layout, by the tables' names; nil to ask SQLite for the result of the
    /// steps.
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
            // A value that was truncated or turned into NULL by damage becomes a value that doesn't open.
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

    /// Checks that the database has the tables of its stated layout, and migrates it to this layout. Keeps a backup of the old
    /// layout beside it, unless the database is itself a copy.
    func migrate(_ database: SQLiteDatabase, isCopy: Bool = false) throws(StorageError) {
        var version = try checkedLayout(of: database)
        if version == self.version { return }
        if version > 0, !isCopy { try backUp(database, version) }
        try database.transaction { () throws(StorageError) in
            // Another process may have migrated the database meanwhile.
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
                // Another process may have migrated the database since the number was read. Numbers only grow.
                guard try checkedVersion(of: database) > version else { throw error }
            }
        }
    }

    /// - Returns: the number of the layout, at most this layout's number; 0 for an empty database.
    /// - Throws: `damaged` for any other number.
    func checkedVersion(of database: SQLiteDatabase) throws(StorageError) -> Int {
        let version = try Self.version(of: database)
        guard version >= 0 else { throw Self.isForeign(database.path) }
        guard version <= self.version else {
            throw StorageError(
                .damaged, database.path,
                problem: "has layout \(version), but this program supports none later than \(self.version)",
                remedy: "use the newer program that wrote it")
        }
        return version
    }

    /// Checks that the database has exactly the tables of a layout.
    func check(_ database: SQLiteDatabase, _ version: Int) throws(StorageError) {
        guard let problem = try database.difference(from: tables(at: version), layout: version) else { return }
        throw StorageError(.damaged, database.path, problem: problem, remedy: StorageError.restoring)
    }

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

    /// Refuses a database that has tables of another program.
    func checkEmpty(_ database: SQLiteDatabase) throws(StorageError) {
        var tables: Int64 = 0
        // One statement reads both, as of one instant, because another process may be creating the store.
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

extension SQLiteDatabase {
    /// Compares the tables and indexes with a layout. Reading a view, or a table that contains an expression, would run whatever
    /// somebody has put there.
    ///
    /// - Parameter expected: The statements that create them, by the names.
    /// - Returns: the first difference; nil if there is none.
    func difference(from expected: [String: String], layout: Int) throws(StorageError) -> String? {
        var found: Set<String> = []
        var problem: String?
        // Reads only the beginning of a long statement, and only the first hundred: that is enough to find a difference.
        try run("SELECT type, name, substr(sql, 1, 10000) FROM sqlite_schema LIMIT 100") { row in
            let (type, name) = (row.text(0), row.text(1))
            found.insert(name)
            guard problem == nil else { return }
            if let statement = expected[name], statement.hasPrefix("CREATE \(type.uppercased()) ") {
                guard statement != row.text(2) else { return }
                problem = "its \(type) \"\(name)\" differs from layout \(layout): something else has changed its columns"
            } else {
                let shown = name.count > 40 ? "\(name.prefix(40))…" : name
                problem = "has an unexpected \(type) \"\(shown)\", which is not part of layout \(layout)"
            }
        }
        if problem == nil, let name = expected.keys.sorted().first(where: { !found.contains($0) }) {
            problem = "has no table \"\(name)\", which is part of layout \(layout)"
        }
        return problem
    }
}

/// The tables of a store's values and of its register.
extension SQLiteDatabase {
    /// - Returns: nil if there is no row.
    func row(of key: StorageKey) throws(StorageError) -> SQLiteRegister.Row? {
        var found: SQLiteRegister.Row?
        try run("SELECT version, sealed FROM entry WHERE key = ?", [.text(key.rawValue)]) { row in
            found = SQLiteRegister.Row(version: row.integer(0), sealed: row.blob(1))
        }
        return found
    }

    func save(_ sealed: [UInt8], for key: StorageKey, _ version: Int64) throws(StorageError) {
        try run(
            """
            INSERT INTO entry (key, version, sealed) VALUES (?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET version = excluded.version, sealed = excluded.sealed
            """, [.text(key.rawValue), .integer(version), .blob(sealed)])
    }

    func saveRegister(_ page: RegisterPage.Number, _ sealed: [UInt8]) throws(StorageError) {
        try run(
            "INSERT INTO register (page, sealed) VALUES (?, ?) ON CONFLICT (page) DO UPDATE SET sealed = excluded.sealed",
            [.integer(Int64(page.index)), .blob(sealed)])
    }

    /// Reads all rows in the order of their keys, a thousand with each query. The body may change them.
    func forEachRow(_ body: (StorageKey, SQLiteRegister.Row) throws(StorageError) -> Void) throws(StorageError) {
        var last: StorageKey?
        while case let rows = try rows(after: last), !rows.isEmpty {
            for (key, row) in rows { try body(key, row) }
            last = rows.last?.key
        }
    }

    /// The next thousand rows, in the order of their keys; empty at the end.
    private func rows(after last: StorageKey?) throws(StorageError) -> [(key: StorageKey, row: SQLiteRegister.Row)] {
        var rows: [(key: StorageKey, row: SQLiteRegister.Row)] = []
        let condition = last == nil ? "" : "WHERE key > ?"
        try run(
            "SELECT key, version, sealed FROM entry \(condition) ORDER BY key LIMIT 1000",
            last.map { [.text($0.rawValue)] } ?? []
        ) { row in
            rows.append((StorageKey(rawValue: row.text(0)), SQLiteRegister.Row(version: row.integer(1), sealed: row.blob(2))))
        }
        // In a damaged database the iteration might never end.
        if let last, let next = rows.last?.key, !last.rawValue.utf8.lexicographicallyPrecedes(next.rawValue.utf8) {
            throw StorageError(.damaged, path, problem: "its entries are not in order", remedy: StorageError.restoring)
        }
        return rows
    }
}

extension SQLiteDatabase {
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
            throw StorageError(
                .damaged, path, problem: "has no valid identifier", remedy: StorageError.restoring)
        }
        return found
    }

    /// Saves the first key, unless another process has saved one.
    func saveFirst(_ key: SealedKey) throws(StorageError) {
        try transaction { () throws(StorageError) in
            if try sealedKey() == nil { try save(key, number: 1) }
        }
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
