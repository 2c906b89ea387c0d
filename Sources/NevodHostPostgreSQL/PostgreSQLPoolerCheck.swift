internal import CPQ
internal import NevodStorage

extension PostgreSQLTarget {
    /// Refuses a connection pooler that gives each transaction another connection. Locks, settings and notifications would be
    /// lost, or would affect other programs.
    func checkSession(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        let first = try backend(connection)
        // A pooler announces a number of its own instead of the backend's.
        guard first != connection.announcedBackend else { return }
        for _ in 0..<3 {
            let handle = Self.withCStrings(of: parameters) { pq.call.PQconnectdbParams($0, $1, 1) }
            guard let handle else { return }
            let other = PostgreSQLConnection(pq, handle, name: connection.name)
            guard !other.isBroken else { return }
            do throws(PostgreSQLError) { try other.execute("BEGIN") } catch {
                // PgBouncer's pool_mode=statement.
                guard error.error.problem.contains("statement pooling") else { throw error }
                throw keepsNoSessions(connection)
            }
            // A pooler that works by transactions gives the idle backend to the other connection, or another backend to this one.
            let (second, now) = (try backend(other), try backend(connection))
            try other.execute("ROLLBACK")
            guard second == first || now != first else { continue }
            throw keepsNoSessions(connection)
        }
    }

    private func keepsNoSessions(_ connection: PostgreSQLConnection) -> PostgreSQLError {
        PostgreSQLError(
            error: StorageError(
                .other, connection.name,
                problem: "is a connection pooler that doesn't keep sessions, such as PgBouncer with pool_mode=transaction",
                remedy: StorageError.poolerRemedy))
    }

    private func backend(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> Int64 {
        try Int64(connection.execute("SELECT pg_catalog.pg_backend_pid()").text(0, 0)) ?? 0
    }
}

extension StorageError {
    static let poolerRemedy =
        "give this program connections of its own: PgBouncer's pool_mode=session, or the server's own address"
}
