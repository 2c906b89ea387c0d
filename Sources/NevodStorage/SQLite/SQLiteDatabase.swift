internal import CSQLite
internal import Glibc
internal import NevodSupport

/// One connection to a database. Only one thread uses it at a time.
final class SQLiteDatabase {
    let path: String
    private let sqlite: SQLite
    private let handle: OpaquePointer
    /// Compiled statements by their text, kept for the connection's lifetime: compiling costs more than running.
    private var statements: [String: SQLiteStatement] = [:]
    private var budget: SQLiteBudget?

    /// - Parameters:
    ///   - path: An existing file, possibly empty: its creator has set its permissions.
    ///   - budget: The number of steps that all statements together may take in SQLite's virtual machine; nil for no limit.
    init(_ path: String, isReadOnly: Bool = false, budget: Int? = nil) throws(StorageError) {
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
        // A file from an attacker must not be able to run code.
        var wasSet: Int32 = 0
        nevod_sqlite_config(sqlite.call, handle, SQLITE_DBCONFIG_DEFENSIVE, 1, &wasSet)
        nevod_sqlite_config(sqlite.call, handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &wasSet)
        nevod_sqlite_config(sqlite.call, handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &wasSet)
        nevod_sqlite_config(sqlite.call, handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, &wasSet)
        for (limit, value) in Self.limits { _ = sqlite.call.sqlite3_limit(handle, limit, value) }
        guard let budget else { return }
        let steps = SQLiteBudget(budget)
        self.budget = steps
        sqlite.call.sqlite3_progress_handler(
            handle, SQLiteBudget.interval,
            { $0.map { Unmanaged<SQLiteBudget>.fromOpaque($0).takeUnretainedValue().spend() } ?? 1 },
            Unmanaged.passUnretained(steps).toOpaque())
    }

    /// Limits that no statement of a store reaches. One attached database is allowed, because `VACUUM INTO` attaches its target.
    private static let limits: [(Int32, Int32)] = [
        (SQLITE_LIMIT_LENGTH, 8 << 20), (SQLITE_LIMIT_SQL_LENGTH, 1 << 16), (SQLITE_LIMIT_COLUMN, 32),
        (SQLITE_LIMIT_EXPR_DEPTH, 50), (SQLITE_LIMIT_COMPOUND_SELECT, 4), (SQLITE_LIMIT_VDBE_OP, 25_000),
        (SQLITE_LIMIT_FUNCTION_ARG, 8), (SQLITE_LIMIT_ATTACHED, 1), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
        (SQLITE_LIMIT_VARIABLE_NUMBER, 16), (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]

    /// Keeps changes in a log, so that readers don't wait for the writer. After a large change, the log is truncated to four
    /// megabytes. The database is not mapped into memory: if another program truncated it, reading it would end the process.
    ///
    /// - Parameter pragmas: More settings, such as `synchronous = FULL`.
    func useLog(_ pragmas: [String]) throws(StorageError) {
        let common = ["temp_store = MEMORY", "journal_size_limit = 4194304", "mmap_size = 0"]
        for pragma in ["journal_mode = WAL"] + pragmas + common { try run("PRAGMA \(pragma)") }
    }

    /// Leaves the log beside the database when the last connection closes.
    func leaveLog() {
        var wasSet: Int32 = 0
        nevod_sqlite_config(sqlite.call, handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &wasSet)
    }

    /// Whether the open file is no longer the one at the path.
    func hasMoved() throws(StorageError) -> Bool {
        var hasMoved: Int32 = 0
        let status = sqlite.call.sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard status == SQLITE_OK else { throw failure(status) }
        return hasMoved != 0
    }

    deinit {
        statements.removeAll()
        _ = sqlite.call.sqlite3_close_v2(handle)
    }

    func failure(_ status: Int32) -> StorageError {
        guard status != SQLITE_INTERRUPT else {
            return StorageError(
                .damaged, path, problem: "takes more work to read than a file of its size should", remedy: "give another file")
        }
        return StorageError(
            path, sqlite: status, sqlite.message(status, handle), system: nevod_sqlite_last_errno(sqlite.call, handle))
    }

    /// Runs statements that return no rows.
    func execute(_ text: String) throws(StorageError) {
        let status = sqlite.call.sqlite3_exec(handle, text, nil, nil, nil)
        guard status == SQLITE_OK else { throw failure(status) }
    }

    /// Runs one statement.
    ///
    /// - Parameters:
    ///   - values: The values of the statement's parameters.
    ///   - row: Called for each row.
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

    /// Copies the database to a file of mode 0600, completely or not at all. If the file exists, it stays.
    func copy(to path: String) throws(StorageError) {
        let new = "\(path).new"
        let file = try PrivateFile.created(new)
        // Two processes may find a store of an earlier layout at the same time.
        while flock(file.descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw StorageError(new, "can't be locked", errno: errno) }
        }
        defer { unlink(new) }
        // Checked before truncating: the target may be the same file, if a process was killed between link and unlink.
        guard access(path, F_OK) != 0 else { return }
        guard ftruncate(file.descriptor, 0) == 0 else { throw StorageError(new, "can't be emptied", errno: errno) }
        try run("VACUUM INTO ?", [.text(new)])
        try file.synchronise()
        guard link(new, path) == 0 || errno == EEXIST else { throw StorageError(path, "can't be created", errno: errno) }
    }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite.call.sqlite3_changes64(handle)) }

    /// Runs the body in a transaction that excludes other writers, and is rolled back if the body throws.
    func transaction<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        try execute("BEGIN IMMEDIATE")
        let result: Result
        do throws(StorageError) {
            result = try body()
            try execute("COMMIT")
        } catch {
            // After some failures SQLite has already rolled back, and this fails.
            _ = sqlite.call.sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            throw error
        }
        return result
    }
}

/// The steps that SQLite's virtual machine may still take for a file of unknown origin. Used on one thread.
final class SQLiteBudget {
    /// The number of steps between two calls of ``spend()``.
    static let interval: Int32 = 1000

    private var rest: Int

    init(_ steps: Int) {
        rest = steps
    }

    /// - Returns: 0 to continue; anything else ends the statement with `SQLITE_INTERRUPT`.
    func spend() -> Int32 {
        rest -= Int(Self.interval)
        return rest < 0 ? 1 : 0
    }
}

/// A parameter of a statement.
enum SQLiteValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
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
        // SQLITE_TRANSIENT makes SQLite copy the bytes.
        let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .integer(let number): return sqlite.call.sqlite3_bind_int64(handle, index, number)
        case .text(let text):
            return sqlite.call.sqlite3_bind_text64(handle, index, text, UInt64(text.utf8.count), copy, UInt8(SQLITE_UTF8))
        case .blob(let bytes):
            return bytes.isEmpty
                ? sqlite.call.sqlite3_bind_zeroblob(handle, index, 0)
                : sqlite.call.sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), copy)
        }
    }
}

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

extension StorageError {
    /// - Parameters:
    ///   - status: SQLite's extended result code.
    ///   - number: `errno`; 0 if there is none.
    init(_ path: String, sqlite status: Int32, _ text: String, system number: Int32) {
        if number != 0, [SQLITE_IOERR, SQLITE_CANTOPEN].contains(status & 0xFF) {
            self.init(path, text, errno: number)
            return
        }
        let (code, remedy): (Code, String?) =
            switch status & 0xFF {
            case SQLITE_FULL: (.full, "free some space on its device")
            case SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH: (.permissions, "let this user read and write it and its folder")
            // The statements are valid. If one doesn't compile, the tables are not this store's.
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH:
                (.damaged, Self.restoring)
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: (.busy, "find the process that uses it with: fuser '\(path)'")
            case SQLITE_TOOBIG: (.tooLarge, nil)
            case SQLITE_CANTOPEN, SQLITE_IOERR: (.unavailable, nil)
            default: (.other, nil)
            }
        self.init(code, path, problem: text, remedy: remedy, systemCode: status)
    }
}

extension SQLiteDatabase {
    /// Runs a body that sees the database as of one instant, unaffected by concurrent writes. The body must not write.
    func snapshot<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        try execute("BEGIN")
        // After some failures SQLite has already ended the transaction.
        defer { try? execute("ROLLBACK") }
        return try body()
    }
}

extension SQLiteDatabase {
    /// The integer that a statement returns; 0 if it returns no row.
    func integer(_ statement: String, _ values: [SQLiteValue] = []) throws(StorageError) -> Int64 {
        var number: Int64 = 0
        try run(statement, values) { number = $0.integer(0) }
        return number
    }
}
