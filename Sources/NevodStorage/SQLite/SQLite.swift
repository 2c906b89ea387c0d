internal import CSQLite

/// The SQLite library, version 3.37 or later: older ones have no strict tables.
final class SQLite: Sendable {
    let call: nevod_sqlite

    init(_ name: String = "libsqlite3.so.0") throws(StorageError) {
        call = try SystemLibrary(name, package: "libsqlite3-0", version: "3.37").load(nevod_sqlite(), nevod_sqlite_find)
    }

    /// SQLite's message for an error.
    ///
    /// - Parameter database: nil if it could not be opened.
    func message(_ status: Int32, _ database: OpaquePointer?) -> String {
        let text = database.flatMap { call.sqlite3_errmsg($0) } ?? call.sqlite3_errstr(status)
        return text.map { String(cString: $0) } ?? ""
    }
}
