internal import CPQ
internal import Glibc
internal import NevodHost
internal import NevodSupport

/// Which server, by libpq's own conventions, and how to talk to it.
struct PostgreSQLTarget: Sendable {
    /// How long a server that is starting is waited for, and each of its addresses.
    static let patience: Duration = .seconds(10)

    private let pq: PQ
    private let connection: String

    /// - Parameter connection: a list of `keyword=value`, a URI, a database's name, or empty.
    init(_ pq: PQ, _ connection: String) throws(StorageError) {
        guard !connection.utf8.contains(0), connection.contains("=") || connection.contains("://") else {
            self.pq = pq
            self.connection = connection
            return
        }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = pq.call.PQconninfoParse(connection, &message) else {
            // What libpq says quotes the text, and there may be a password in it.
            pq.call.PQfreemem(message)
            throw StorageError(
                .other, "PostgreSQL", problem: "the connection is neither a list of keyword=value nor a URI that libpq knows",
                remedy: "write it as psql takes it, or leave it empty and set PGHOST, PGUSER and PGDATABASE")
        }
        pq.call.PQconninfoFree(options)
        self.pq = pq
        self.connection = connection
    }

    /// Blocks. A server that says that it is starting is asked again for a while.
    ///
    /// - Throws: what is `isUnreached`.
    func connect() throws(PostgreSQLFailure) -> PostgreSQLConnection {
        let end = ContinuousClock.now + Self.patience
        while true {
            let start = ContinuousClock.now
            let handle = withParameters { pq.call.PQconnectdbParams($0, $1, 1) }
            guard let handle else {
                throw PostgreSQLFailure(error: StorageError(.other, "libpq", problem: "has no memory left"), isUnreached: true)
            }
            let connection = PostgreSQLConnection(pq, handle, name: name(of: handle))
            if !connection.isBroken {
                do throws(PostgreSQLFailure) { try setUp(connection) } catch {
                    throw PostgreSQLFailure(error: error.error, isUnreached: true)
                }
                return connection
            }
            // One that starts says so at once; of one that is silent nothing more is asked, or that would take as long again.
            let isSilent = ContinuousClock.now >= min(end, start + .seconds(1))
            let ping = isSilent ? PQPING_NO_RESPONSE : withParameters { pq.call.PQpingParams($0, $1, 1) }
            guard ping == PQPING_REJECT else {
                throw PostgreSQLFailure(error: failure(handle, connection.name, ping), isUnreached: true)
            }
            usleep(100_000)
        }
    }

    /// What the caller, or the service file, says comes last and counts.
    private func withParameters<Result>(
        _ body: (_ keywords: [UnsafePointer<CChar>?], _ values: [UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        var parameters = [
            ("fallback_application_name", "nevod-host"), ("client_encoding", "UTF8"),
            // A server that has vanished is noticed within half a minute, also while nothing is said.
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "25000"),
        ]
        if getenv("PGCONNECT_TIMEOUT") == nil { parameters.append(("connect_timeout", "10")) }
        if !connection.isEmpty { parameters.append(("dbname", connection)) }
        let texts = parameters.map { (strdup($0.0), strdup($0.1)) }
        defer {
            for (keyword, value) in texts {
                free(keyword)
                if let value { UnsafeMutableRawBufferPointer(start: value, count: strlen(value)).wipe() }
                free(value)
            }
        }
        return body(texts.map { UnsafePointer($0.0) } + [nil], texts.map { UnsafePointer($0.1) } + [nil])
    }

    /// What a server or a user may have set otherwise, and a store relies on. Settings that a server doesn't know are left out.
    private func setUp(_ connection: PostgreSQLConnection) throws(PostgreSQLFailure) {
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
        let problem = "can't be reached: \(pq.message(of: handle))"
        if pq.call.PQconnectionNeedsPassword(handle) != 0 || pq.call.PQconnectionUsedPassword(handle) != 0 {
            return StorageError(
                .permissions, name, problem: problem,
                remedy: "check the user (PGUSER), and the password in PGPASSFILE or the service file")
        }
        let remedy =
            ping == PQPING_OK
            ? "it answers: check the user (PGUSER), the database (PGDATABASE) and its pg_hba.conf"
            : "start it, or name another (PGHOST, PGPORT, or a service in PGSERVICEFILE)"
        return StorageError(.unavailable, name, problem: problem, remedy: remedy)
    }
}
