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

    /// Reads all rows in the order of their keys, a thousand for each query. The body may change them.
    func forEachRow(_ body: (StorageKey, SQLiteRegister.Row) throws(StorageError) -> Void) throws(StorageError) {
        var last: StorageKey?
        while case let rows = try rows(after: last), !rows.isEmpty {
            for (key, row) in rows { try body(key, row) }
            last = rows.last?.key
        }
    }

    /// The next thousand rows, in the order of their keys; none at the end.
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
