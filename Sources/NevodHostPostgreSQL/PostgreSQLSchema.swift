internal import NevodStorage

/// The layout of a schema in the database, and its migration from earlier layouts.
///
/// The row of a removed value stays, without a value. Its version keeps increasing, so that a process with an old copy of the
/// value learns of the removal.
struct PostgreSQLSchema: Sendable {
    let name: String
    /// The statements that migrate from layout n to n + 1; the first one creates layout 1. Never changed once released.
    let steps: [String]

    /// - Parameter name: Lower-case letters, digits and `_`, so that the name means the same with and without quotes.
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
                """,
                // Columns for renewals: how often the lock was taken, its signs of life, its holder, the version that is renewed,
                // the start, and the latest end. No column has a default that would make the server rewrite the table.
                """
                ALTER TABLE \(name).entry
                    ADD COLUMN fence bigint NOT NULL DEFAULT 0,
                    ADD COLUMN beat bigint NOT NULL DEFAULT 0,
                    ADD COLUMN holder text,
                    ADD COLUMN renews bigint,
                    ADD COLUMN since timestamptz,
                    ADD COLUMN until timestamptz;
                """,
            ] + laterSteps
    }

    var version: Int64 { Int64(steps.count) }

    /// Creates the schema, or migrates it to this layout. Several processes may do so at once.
    func migrate(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        // If the layout is current, this is all, so a user needs no right to create tables.
        let found = try layout(connection)
        if found == version { return }
        do throws(PostgreSQLError) { try migrateLocked(connection) } catch {
            guard found != nil, error.state == "42501" else { throw error }
            throw PostgreSQLError(
                error: StorageError(
                    .permissions, "\(connection.name), schema \(name)", problem: error.error.problem,
                    remedy:
                        "open the store once as the schema's owner, who can change its layout from \(found ?? 0) to \(version)"),
                state: error.state)
        }
    }

    private func migrateLocked(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        try connection.transaction { () throws(PostgreSQLError) in
            let lock = StorageKey(rawValue: "nevod-host schema \(name)").digest
            try connection.run("SELECT pg_advisory_xact_lock($1::int8)", [.integer(Int64(bitPattern: lock))])
            let found = try layout(connection)
            if found == nil {
                if try !exists(connection) { try connection.execute("CREATE SCHEMA \(name)") }
                try connection.execute("CREATE TABLE \(name).layout (version bigint NOT NULL)")
                try connection.execute("INSERT INTO \(name).layout VALUES (0)")
            }
            guard let done = Int(exactly: found ?? 0), (0...steps.count).contains(done) else {
                throw PostgreSQLError(error: isUnknown(found ?? 0, connection.name))
            }
            for step in steps.dropFirst(done) { try connection.execute(step) }
            try connection.run("UPDATE \(name).layout SET version = $1::int8", [.integer(version)])
        }
    }

    private func exists(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> Bool {
        try connection.run("SELECT 1 FROM pg_namespace WHERE nspname = $1::text", [.text(name)]).count > 0
    }

    /// - Returns: nil if the schema has no layout.
    private func layout(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> Int64? {
        // Read from the catalogue: if a name was looked up before it existed, it stays unknown for the rest of a transaction.
        let table = try connection.run(
            """
            SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE nspname = $1::text AND relname = 'layout'
            """, [.text(name)])
        guard table.count > 0 else { return nil }
        let rows = try connection.run("SELECT version::int8 FROM \(name).layout")
        guard rows.count == 1 else {
            throw PostgreSQLError(
                error: StorageError(
                    .damaged, "\(connection.name), schema \(name)",
                    problem: "does not say which layout it has: its table \"layout\" has \(rows.count) rows instead of one",
                    remedy: "restore the schema from a backup, or choose another schema"))
        }
        return rows.integer(0, 0)
    }

    private func isUnknown(_ found: Int64, _ server: String) -> StorageError {
        let name = "\(server), schema \(name)"
        guard found > version else {
            return StorageError(
                .damaged, name, problem: "has layout \(found), which no program writes",
                remedy: "restore the schema from a backup")
        }
        return StorageError(
            .damaged, name, problem: "has layout \(found), but this program supports none later than \(version)",
            remedy: "use the newer program that wrote it")
    }
}
