internal import CPQ
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// The server, found by libpq's conventions, and the settings of a connection to it.
struct PostgreSQLTarget: Sendable {
    /// How long to wait for a server that is starting, and for each of its addresses.
    static let timeout: Duration = .seconds(10)

    private let pq: LibPQ
    let parameters: [Parameter]

    /// - Parameter connection: A list of `keyword=value`, a URI, a database's name, or empty.
    init(_ pq: LibPQ, _ connection: String) throws(StorageError) {
        self.pq = pq
        parameters = try Self.parameters(pq, connection)
    }

    /// Connects, and blocks meanwhile. If the server reports that it is starting, retries for a while.
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

    /// Refuses a connection pooler that gives each transaction another connection. Locks, settings and notifications would be
    /// lost, or would affect other programs.
    private func checkSession(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        let first = try backend(connection)
        // A pooler announces a number of its own.
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
            // A pooler of transactions gives the idle backend to the other connection, or a new one to this.
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
    /// connection. A translated text gets the general remedy.
    private static func isFull(_ message: String) -> Bool {
        ["too many clients", "too many connections", "connection slots are reserved", "no more connections allowed"]
            .contains { message.contains($0) }
    }

    /// Recognizes the message, since libpq gives nothing else for a refused connection. A server also refuses for other reasons,
    /// after a correct password.
    private func isPasswordRefused(_ handle: OpaquePointer) -> Bool {
        pq.call.PQconnectionNeedsPassword(handle) != 0 || pq.message(of: handle).contains("authentication failed")
    }
}

/// The parameters for libpq. Everything else is left to libpq's own rules.
extension PostgreSQLTarget {
    /// A parameter under libpq's name for it.
    typealias Parameter = (keyword: String, value: String)

    static func parameters(_ pq: LibPQ, _ connection: String) throws(StorageError) -> [Parameter] {
        try check(pq, connection)
        let given = connection.isEmpty ? [] : [("dbname", connection)]
        let known = settings(pq, given)
        // A later value overrides an earlier one.
        return [("client_encoding", "UTF8")] + defaults.filter { !known.contains($0.keyword) } + given
    }

    /// Used unless the connection string, its service or the environment sets another value.
    private static let defaults: [Parameter] = [
        ("fallback_application_name", "nevod-host"), ("connect_timeout", "10"),
        // With several servers, every process of the fleet must use the same one, because each server has its own locks.
        ("target_session_attrs", "read-write"),
        // An unreachable server is noticed within half a minute, even on an idle connection.
        ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "25000"),
    ]

    private static func check(_ pq: LibPQ, _ connection: String) throws(StorageError) {
        guard !connection.utf8.contains(0), connection.contains("=") || connection.contains("://") else { return }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = pq.call.PQconninfoParse(connection, &message) else {
            // libpq's message quotes the string, which may hold a password.
            pq.call.PQfreemem(message)
            throw StorageError(
                .other, "PostgreSQL", problem: "the connection is neither a list of keyword=value nor a URI that libpq accepts",
                remedy: "write it as for psql, or leave it empty and set PGHOST, PGUSER and PGDATABASE")
        }
        pq.call.PQconninfoFree(options)
    }

    /// The keywords whose value differs from libpq's default, or is set in the environment. There is no other way to find out
    /// what a service file sets: libpq reads the file while it connects, and the parameters of the call would override it.
    private static func settings(_ pq: LibPQ, _ given: [Parameter]) -> Set<String> {
        // An invalid `sslmode` makes libpq fail before it contacts a server.
        let handle = withCStrings(of: given + [("sslmode", "-")]) { pq.call.PQconnectStartParams($0, $1, 1) }
        defer { pq.call.PQfinish(handle) }
        guard let options = pq.call.PQconninfo(handle) else { return [] }
        defer { pq.call.PQconninfoFree(options) }
        var keywords: Set<String> = []
        var next = options
        while let keyword = next.pointee.keyword {
            let option = next.pointee
            next += 1
            guard let value = option.val else { continue }
            let isUsual = option.compiled.map { strcmp($0, value) == 0 } ?? false
            if !isUsual || option.envvar.map({ getenv($0) != nil }) == true { keywords.insert(String(cString: keyword)) }
        }
        return keywords
    }

    static func withCStrings<Result>(
        of parameters: [Parameter],
        _ body: (_ keywords: [UnsafePointer<CChar>?], _ values: [UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        let texts = parameters.map { (strdup($0.keyword), strdup($0.value)) }
        defer {
            for (keyword, value) in texts {
                free(keyword)
                if let value { UnsafeMutableRawBufferPointer(start: value, count: strlen(value)).wipe() }
                free(value)
            }
        }
        return body(texts.map { UnsafePointer($0.0) } + [nil], texts.map { UnsafePointer($0.1) } + [nil])
    }
}
