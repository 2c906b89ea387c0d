internal import CSQLite

/// SQLite's library, of 3.37 or later: older ones know no strict tables.
final class SQLite: Sendable {
    let call: nevod_sqlite

    init(_ name: String = "libsqlite3.so.0") throws(StorageError) {
        call = try SystemLibrary(name, package: "libsqlite3-0", version: "3.37").load(nevod_sqlite(), nevod_sqlite_find)
    }

    /// What went wrong, in its words.
    ///
    /// - Parameter database: nil if there isn't even one.
    func message(_ status: Int32, _ database: OpaquePointer?) -> String {
        let text = database.flatMap { call.sqlite3_errmsg($0) } ?? call.sqlite3_errstr(status)
        return text.map { String(cString: $0) } ?? ""
    }
}
