internal import CPQ
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// The parameters for libpq. Everything else is left to libpq's own rules.
extension PostgreSQLTarget {
    /// A parameter, with libpq's name for it.
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

    /// The keywords whose value differs from libpq's default, or is set in the environment. Only this shows what a service file
    /// sets: libpq reads that file while it connects, and the parameters of the call would override it.
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
