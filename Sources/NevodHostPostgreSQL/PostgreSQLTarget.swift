internal import CPQ
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// The server, found by libpq's conventions, and the settings of a connection to it.
struct PostgreSQLTarget: Sendable {
    /// How long to wait for a server that is starting, and for each of its addresses.
    static let timeout: Duration = .seconds(10)

    let pq: LibPQ
    let parameters: [Parameter]

    /// - Parameter connection: A list of `keyword=value`, a URI, a database's name, or empty.
    init(_ pq: LibPQ, _ connection: String) throws(StorageError) {
        self.pq = pq
        parameters = try Self.parameters(pq, connection)
    }

    /// Connects, and blocks the thread meanwhile. If the server reports that it is starting, retries for a while.
    ///
    /// - Throws: an error whose `isUnreachable` is true.
    func connect() throws(PostgreSQLError) -> PostgreSQLConnection {
        let deadline = ContinuousClock.now + Self.timeout
        var mayHaveBecomeReady = true
        while true {
            let start = ContinuousClock.now
            let handle = Self.withCStrings(of: parameters) { pq.call.PQconnectdbParams($0, $1, 1) }
            guard let handle else {
                throw PostgreSQLError(error: StorageError(.other, "libpq", problem: "has no memory left"), isUnreachable: true)
            }
            let connection = PostgreSQLConnection(pq, handle, name: name(of: handle))
            if !connection.isBroken {
                do throws(PostgreSQLError) {
                    try checkSession(connection)
                    try setUp(connection)
                } catch {
                    throw PostgreSQLError(error: error.error, isUnreachable: true)
                }
                return connection
            }
            // A server that is starting says so at once. A silent server is not pinged, which would take as long again.
            let isSilent = ContinuousClock.now >= min(deadline, start + .seconds(1))
            let ping = isSilent ? PQPING_NO_RESPONSE : Self.withCStrings(of: parameters) { pq.call.PQpingParams($0, $1, 1) }
            switch ping {
            case PQPING_REJECT: usleep(100_000)
            // The server may have become ready between the connection and the ping. If it refused the password, don't send the
            // same password again, which could lock the account.
            case PQPING_OK where mayHaveBecomeReady && !isPasswordRefused(handle): mayHaveBecomeReady = false
            default: throw PostgreSQLError(error: failure(handle, connection.name, ping), isUnreachable: true)
            }
        }
    }

    /// Sets what the store relies on, because the server or the user may have other settings. Skips settings that the server
    /// doesn't have.
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
        if isPasswordRefused(handle) {
            return StorageError(
                .permissions, name, problem: problem,
                remedy: "check the user (PGUSER), and the password in PGPASSFILE or the service file")
        }
        let remedy =
            if ping != PQPING_OK {
                "start the server, or name another one (PGHOST, PGPORT, or a service in PGSERVICEFILE)"
            } else if Self.isFull(message) {
                """
                all of its connections are in use: raise max_connections, or the limit of the user or the database (CONNECTION LIMIT), \
                or use fewer connections; a store opens up to five
                """
            } else {
                """
                the server responds: check the user (PGUSER), the password, the database (PGDATABASE), the server's pg_hba.conf, \
                and whether a connection is left (max_connections)
                """
            }
        return StorageError(.unavailable, name, problem: problem, remedy: remedy)
    }

    /// Recognizes the texts of error 53300 in the server and in PgBouncer, since libpq gives no SQLSTATE for a refused
    /// connection. With a translated text, the general remedy is given.
    private static func isFull(_ message: String) -> Bool {
        ["too many clients", "too many connections", "connection slots are reserved", "no more connections allowed"]
            .contains { message.contains($0) }
    }

    /// Compares the message, because libpq gives nothing else for a refused connection. A server may also refuse a connection for
    /// other reasons, although the password was right.
    private func isPasswordRefused(_ handle: OpaquePointer) -> Bool {
        pq.call.PQconnectionNeedsPassword(handle) != 0 || pq.message(of: handle).contains("authentication failed")
    }
}
