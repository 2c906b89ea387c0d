internal import CPQ
internal import Glibc
internal import NevodStorage

/// Which server, by libpq's own conventions, and how to talk to it.
struct PostgreSQLTarget: Sendable {
    /// How long a server that is starting is waited for, and each of its addresses.
    static let patience: Duration = .seconds(10)

    private let pq: PQ
    let parameters: [Parameter]

    /// - Parameter connection: a list of `keyword=value`, a URI, a database's name, or empty.
    init(_ pq: PQ, _ connection: String) throws(StorageError) {
        self.pq = pq
        parameters = try Self.parameters(pq, connection)
    }

    /// Blocks. A server that says that it is starting is asked again for a while.
    ///
    /// - Throws: what is `isUnreached`.
    func connect() throws(PostgreSQLError) -> PostgreSQLConnection {
        let end = ContinuousClock.now + Self.patience
        while true {
            let start = ContinuousClock.now
            let handle = Self.withCStrings(of: parameters) { pq.call.PQconnectdbParams($0, $1, 1) }
            guard let handle else {
                throw PostgreSQLError(error: StorageError(.other, "libpq", problem: "has no memory left"), isUnreached: true)
            }
            let connection = PostgreSQLConnection(pq, handle, name: name(of: handle))
            if !connection.isBroken {
                do throws(PostgreSQLError) { try setUp(connection) } catch {
                    throw PostgreSQLError(error: error.error, isUnreached: true)
                }
                return connection
            }
            // One that starts says so at once; of one that is silent nothing more is asked, or that would take as long again.
            let isSilent = ContinuousClock.now >= min(end, start + .seconds(1))
            let ping = isSilent ? PQPING_NO_RESPONSE : Self.withCStrings(of: parameters) { pq.call.PQpingParams($0, $1, 1) }
            guard ping == PQPING_REJECT else {
                throw PostgreSQLError(error: failure(handle, connection.name, ping), isUnreached: true)
            }
            usleep(100_000)
        }
    }

    /// What a server or a user may have set otherwise, and a store relies on. Settings that a server doesn't know are left out.
    private func setUp(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        try connection.execute(
            """
            SELECT set_config(name, value, false) FROM pg_catalog.pg_settings JOIN (VALUES
                ('search_path', 'pg_catalog'), ('default_transaction_isolation', 'read committed'),
                ('statement_timeout', '30s'), ('lock_timeout', '20s'), ('idle_session_timeout', '0'),
                ('idle_in_transaction_session_timeout', '60s'), ('client_min_messages', 'error'),
                ('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
                    ELSE current_setting('synchronous_commit') END)
            ) AS wanted (name, value) USING (name)
            """)
    }

    private func name(of handle: OpaquePointer) -> String {
        let host = pq.call.PQhost(handle).map { String(cString: $0) } ?? ""
        let port = pq.call.PQport(handle).map { String(cString: $0) } ?? ""
        guard !host.isEmpty else { return "PostgreSQL" }
        return host.hasPrefix("/") ? "PostgreSQL at \(host)/.s.PGSQL.\(port)" : "PostgreSQL at \(host):\(port)"
    }

    private func failure(_ handle: OpaquePointer, _ name: String, _ ping: PGPing) -> StorageError {
        let message = pq.message(of: handle)
        let problem = "can't be reached: \(message)"
        // Of a server that refuses a connection libpq gives the words alone, and much else is refused after a password was right.
        if pq.call.PQconnectionNeedsPassword(handle) != 0 || message.contains("authentication failed") {
            return StorageError(
                .permissions, name, problem: problem,
                remedy: "check the user (PGUSER), and the password in PGPASSFILE or the service file")
        }
        let remedy =
            ping == PQPING_OK
            ? "it answers: check the user (PGUSER), the password, the database (PGDATABASE) and the server's pg_hba.conf"
            : "start it, or name another (PGHOST, PGPORT, or a service in PGSERVICEFILE)"
        return StorageError(.unavailable, name, problem: problem, remedy: remedy)
    }
}
