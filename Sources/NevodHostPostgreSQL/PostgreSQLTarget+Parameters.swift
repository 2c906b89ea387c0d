internal import CPQ
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// What libpq is told. It has rules of its own for what it isn't told, and this leaves as much as can be to them.
extension PostgreSQLTarget {
    /// By libpq's names.
    typealias Parameter = (keyword: String, value: String)

    static func parameters(_ pq: PQ, _ connection: String) throws(StorageError) -> [Parameter] {
        try check(pq, connection)
        let given = connection.isEmpty ? [] : [("dbname", connection)]
        let known = settings(pq, given)
        // What comes last counts.
        return [("client_encoding", "UTF8")] + defaults.filter { !known.contains($0.keyword) } + given
    }

    /// What counts unless the connection's text, its service or the environment says something else.
    private static let defaults: [Parameter] = [
        ("fallback_application_name", "nevod-host"), ("connect_timeout", "10"),
        // Of several servers the one that all others of the fleet use as well: each server has locks of its own.
        ("target_session_attrs", "read-write"),
        // A server that has vanished is noticed within half a minute, also while nothing is said.
        ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "25000"),
    ]

    private static func check(_ pq: PQ, _ connection: String) throws(StorageError) {
        guard !connection.utf8.contains(0), connection.contains("=") || connection.contains("://") else { return }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = pq.call.PQconninfoParse(connection, &message) else {
            // What libpq says quotes the text, and there may be a password in it.
            pq.call.PQfreemem(message)
            throw StorageError(
                .other, "PostgreSQL", problem: "the connection is neither a list of keyword=value nor a URI that libpq knows",
                remedy: "write it as psql takes it, or leave it empty and set PGHOST, PGUSER and PGDATABASE")
        }
        pq.call.PQconninfoFree(options)
    }

    /// The keywords of what has another value than libpq's own, or is in the environment. Only this tells what a service file says: libpq
    /// reads that on its way to a server, and what comes with the call counts more.
    private static func settings(_ pq: PQ, _ given: [Parameter]) -> Set<String> {
        // An `sslmode` that doesn't exist ends the way before it leads anywhere.
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
