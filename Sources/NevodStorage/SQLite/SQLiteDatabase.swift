internal import CSQLite
internal import Glibc
internal import NevodSupport

/// One connection to a database. Used by one thread at a time.
final class SQLiteDatabase {
    let path: String
    private let sqlite: SQLite
    private let handle: OpaquePointer
    /// Kept for all its life, by its text: compiling costs more than running.
    private var statements: [String: SQLiteStatement] = [:]

    /// - Parameter path: of a file that is there already, perhaps empty: who makes it decides who may read it.
    init(_ path: String, isReadOnly: Bool = false) throws(StorageError) {
        let sqlite = try SQLite()
        var handle: OpaquePointer?
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        let status = sqlite.call.sqlite3_open_v2(path, &handle, flags, nil)
        guard status == SQLITE_OK, let handle else {
            let error = StorageError(
                path, sqlite: status, sqlite.message(status, handle),
                system: handle.map { sqlite.call.sqlite3_system_errno($0) } ?? 0)
            _ = sqlite.call.sqlite3_close_v2(handle)
            throw error
        }
        self.path = path
        self.sqlite = sqlite
        self.handle = handle
        _ = sqlite.call.sqlite3_busy_timeout(handle, 10_000)
        // A file that somebody else has prepared must not run anything.
        var wasSet: Int32 = 0
        nevod_sqlite_config(sqlite.call, handle, SQLITE_DBCONFIG_DEFENSIVE, 1, &wasSet)
        nevod_sqlite_config(sqlite.call, handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &wasSet)
        nevod_sqlite_config(sqlite.call, handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &wasSet)
    }

    deinit {
        statements.removeAll()
        _ = sqlite.call.sqlite3_close_v2(handle)
    }

    func failure(_ status: Int32) -> StorageError {
        StorageError(path, sqlite: status, sqlite.message(status, handle), system: nevod_sqlite_last_errno(sqlite.call, handle))
    }

    /// Runs statements that give no rows.
    func execute(_ text: String) throws(StorageError) {
        let status = sqlite.call.sqlite3_exec(handle, text, nil, nil, nil)
        guard status == SQLITE_OK else { throw failure(status) }
    }

    /// - Parameters:
    ///   - values: of the statement's question marks.
    ///   - row: called for each row.
    func run(
        _ text: String, _ values: [SQLiteValue] = [], row: (SQLiteRow) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) {
        let statement: SQLiteStatement
        if let known = statements[text] {
            statement = known
        } else {
            var prepared: OpaquePointer?
            let status = sqlite.call.sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
            guard status == SQLITE_OK, let prepared else { throw failure(status) }
            statement = SQLiteStatement(sqlite, prepared)
            statements[text] = statement
        }
        let status = try statement.run(values, row: row)
        guard status == SQLITE_DONE else { throw failure(status) }
    }

    /// A copy of all of it in a file of mode 0600, whole or not at all. One that is there already stays.
    func copy(to path: String) throws(StorageError) {
        let new = "\(path).new"
        let descriptor = open(new, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StorageError(new, "can't be made", errno: errno) }
        let file = try PrivateFile(descriptor, .file, path: new)
        // Two processes that find a store of an earlier layout take turns.
        while flock(file.descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw StorageError(new, "can't be locked", errno: errno) }
        }
        defer { unlink(new) }
        // First: what bears the other name may be the same file, left by who was killed between the two names.
        guard access(path, F_OK) != 0 else { return }
        guard ftruncate(file.descriptor, 0) == 0 else { throw StorageError(new, "can't be emptied", errno: errno) }
        try run("VACUUM INTO ?", [.text(new)])
        try file.synchronise()
        guard link(new, path) == 0 || errno == EEXIST else { throw StorageError(path, "can't be made", errno: errno) }
    }

    /// How many rows the last statement changed.
    var changes: Int { Int(sqlite.call.sqlite3_changes64(handle)) }

    /// All of it, or nothing. Others write before it or after it.
    func transaction<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        try execute("BEGIN IMMEDIATE")
        let result: Result
        do throws(StorageError) {
            result = try body()
            try execute("COMMIT")
        } catch {
            // SQLite has done so by itself after some failures, and says that there is none.
            _ = sqlite.call.sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            throw error
        }
        return result
    }
}

/// What is written to a column, or compared with one.
enum SQLiteValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null
}

/// A row, while it is the current one.
struct SQLiteRow {
    fileprivate let sqlite: SQLite
    fileprivate let statement: OpaquePointer

    func isNull(_ column: Int32) -> Bool { sqlite.call.sqlite3_column_type(statement, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite.call.sqlite3_column_int64(statement, column) }
    func text(_ column: Int32) -> String {
        String(decoding: bytes(sqlite.call.sqlite3_column_text(statement, column), column), as: UTF8.self)
    }
    /// - Parameter column: of what is sealed; the next one is its length.
    /// - Returns: nil if it was removed. No bytes, which don't open, if it isn't as long as it was.
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
private final class SQLiteStatement {
    private let sqlite: SQLite
    private let handle: OpaquePointer

    init(_ sqlite: SQLite, _ handle: OpaquePointer) {
        self.sqlite = sqlite
        self.handle = handle
    }

    deinit {
        _ = sqlite.call.sqlite3_finalize(handle)
    }

    /// - Returns: the status it ended with; `SQLITE_DONE` is a good end.
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
        // SQLITE_TRANSIENT: it copies.
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

extension StorageError {
    /// - Parameters:
    ///   - status: SQLite's, extended.
    ///   - number: what the system said, if it said anything.
    init(_ path: String, sqlite status: Int32, _ text: String, system number: Int32) {
        if number != 0, [SQLITE_IOERR, SQLITE_CANTOPEN].contains(status & 0xFF) {
            self.init(path, text, errno: number)
            return
        }
        let (code, remedy): (Code, String?) =
            switch status & 0xFF {
            case SQLITE_FULL: (.full, "free some space on its device")
            case SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH: (.permissions, "let this user read and write it and its folder")
            // The statements are right: if one isn't understood, the tables aren't those that it was written for.
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH:
                (.damaged, "put it back from a backup")
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: (.busy, "find who uses it with: fuser '\(path)'")
            case SQLITE_TOOBIG: (.tooLarge, nil)
            case SQLITE_CANTOPEN, SQLITE_IOERR: (.unavailable, nil)
            default: (.other, nil)
            }
        self.init(code, path, problem: text, remedy: remedy, systemCode: status)
    }
}
