internal import CSQLite

/// A parameter of a statement.
enum SQLiteValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null
}

/// The current row of a statement; valid until the next one.
struct SQLiteRow {
    fileprivate let sqlite: SQLite
    fileprivate let statement: OpaquePointer

    func isNull(_ column: Int32) -> Bool { sqlite.call.sqlite3_column_type(statement, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite.call.sqlite3_column_int64(statement, column) }
    func text(_ column: Int32) -> String {
        String(decoding: bytes(sqlite.call.sqlite3_column_text(statement, column), column), as: UTF8.self)
    }
    /// - Parameter column: The column of a sealed value; the next column holds its length.
    /// - Returns: nil if the value was removed; no bytes, which can't be opened, if its length is wrong.
    func sealed(_ column: Int32) -> [UInt8]? {
        let sealed = isNull(column) ? nil : blob(column)
        return integer(column + 1) == Int64(sealed?.count ?? 0) ? sealed : []
    }
    func blob(_ column: Int32) -> [UInt8] { Array(bytes(sqlite.call.sqlite3_column_blob(statement, column), column)) }

    private func bytes(_ start: UnsafeRawPointer?, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite.call.sqlite3_column_bytes(statement, column)))
    }
}

/// A compiled statement.
final class SQLiteStatement {
    private let sqlite: SQLite
    private let handle: OpaquePointer

    init(_ sqlite: SQLite, _ handle: OpaquePointer) {
        self.sqlite = sqlite
        self.handle = handle
    }

    deinit {
        _ = sqlite.call.sqlite3_finalize(handle)
    }

    /// - Returns: the final status: `SQLITE_DONE` on success.
    func run(_ values: [SQLiteValue], row: (SQLiteRow) throws(StorageError) -> Void) throws(StorageError) -> Int32 {
        defer {
            _ = sqlite.call.sqlite3_reset(handle)
            _ = sqlite.call.sqlite3_clear_bindings(handle)
        }
        for (index, value) in values.enumerated() {
            let status = bind(value, to: Int32(index + 1))
            guard status == SQLITE_OK else { return status }
        }
        while true {
            let status = sqlite.call.sqlite3_step(handle)
            guard status == SQLITE_ROW else { return status }
            try row(SQLiteRow(sqlite: sqlite, statement: handle))
        }
    }

    private func bind(_ value: SQLiteValue, to index: Int32) -> Int32 {
        // SQLITE_TRANSIENT: SQLite copies the bytes.
        let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .integer(let number): return sqlite.call.sqlite3_bind_int64(handle, index, number)
        case .text(let text):
            return sqlite.call.sqlite3_bind_text64(handle, index, text, UInt64(text.utf8.count), copy, UInt8(SQLITE_UTF8))
        case .blob(let bytes):
            return bytes.isEmpty
                ? sqlite.call.sqlite3_bind_zeroblob(handle, index, 0)
                : sqlite.call.sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), copy)
        case .null: return sqlite.call.sqlite3_bind_null(handle, index)
        }
    }
}
