internal import NevodStorage

/// The layout of a schema in the database, and its migration from earlier layouts.
///
/// A removed entry stays, without a value: its version keeps increasing, so that a process with an old copy of the value learns of
/// the removal.
struct PostgreSQLSchema: Sendable {
    let name: String
    /// The statements that migrate from layout n to n + 1; the first create layout 1. Never changed once released.
    let steps: [String]

    /// - Parameter name: Lower-case letters, digits and `_`, so that the name means the same quoted and unquoted.
    init(_ name: String, laterSteps: [String] = []) throws(StorageError) {
        let isWord = name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }
        guard isWord, (1...40).contains(name.utf8.count), name.first?.isNumber == false, !name.hasPrefix("pg_") else {
            throw StorageError(
                .other, name, problem: "is not a valid name for the store's schema",
                remedy: "use up to 40 lower-case letters, digits and underscores, a letter first")
        }
        self.name = name
        steps =
            [
                """
                CREATE TABLE \(name).store (
                    single boolean PRIMARY KEY DEFAULT true CHECK (single),
                    id bytea NOT NULL,
                    key_number bigint NOT NULL,
                    key_kind text NOT NULL,
                    key_salt bytea NOT NULL,
                    key_sealed bytea NOT NULL
                );
                CREATE TABLE \(name).entry (
                    key bytea PRIMARY KEY,
                    version bigint NOT NULL,
                    sealed bytea
                );
                """
            ] + laterSteps
    }

    var version: Int64 { Int64(steps.count) }

    /// Creates the schema, or migrates it to this layout. Safe to run in several processes at once.
    func migrate(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        // A user without the right to create tables gets no further than this.
        if try layout(connection) == version { return }
        try connection.transaction { () throws(PostgreSQLError) in
            let lock = StorageKey(rawValue: "nevod-host schema \(name)").digest
            try connection.run("SELECT pg_advisory_xact_lock($1::int8)", [.integer(Int64(bitPattern: lock))])
            let found = try layout(connection)
            guard (0...version).contains(found) else { throw PostgreSQLError(error: isLater(found, connection.name)) }
            if found == 0 {
                if try !exists(connection) { try connection.execute("CREATE SCHEMA \(name)") }
                try connection.execute("CREATE TABLE \(name).layout (version bigint NOT NULL)")
                try connection.execute("INSERT INTO \(name).layout VALUES (0)")
            }
            for step in steps.dropFirst(Int(found)) { try connection.execute(step) }
            try connection.run("UPDATE \(name).layout SET version = $1::int8", [.integer(version)])
        }
    }

    private func exists(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> Bool {
        try connection.run("SELECT 1 FROM pg_namespace WHERE nspname = $1::text", [.text(name)]).count > 0
    }

    /// - Returns: 0 if there is none.
    private func layout(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> Int64 {
        // Read from the catalogue: a name that was looked up before it existed stays unknown for the rest of a transaction.
        let table = try connection.run(
            """
            SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE nspname = $1::text AND relname = 'layout'
            """, [.text(name)])
        guard table.count > 0 else { return 0 }
        let rows = try connection.run("SELECT version FROM \(name).layout")
        return rows.count > 0 ? rows.integer(0, 0) : 0
    }

    private func isLater(_ found: Int64, _ server: String) -> StorageError {
        StorageError(
            .damaged, "\(server), schema \(name)",
            problem: "has layout \(found), and this program supports none later than \(version)",
            remedy: "use the newer program that wrote it")
    }
}
