internal import CSQLite
internal import Glibc
internal import NevodSupport

/// One connection to a database. Used by one thread at a time.
final class SQLiteDatabase {
    let path: String
    private let sqlite: SQLite
    private let handle: OpaquePointer
    /// Compiled statements by their text, kept for the connection's lifetime: compiling costs more than running.
    private var statements: [String: SQLiteStatement] = [:]
    private var budget: SQLiteBudget?

    /// - Parameters:
    ///   - path: An existing file, possibly empty: its creator has set its permissions.
    ///   - budget: The number of steps that all statements together may take, in SQLite's virtual machine; nil for any number.
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
        // A file from an attacker must not be able to run anything.
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

    /// More than any statement of a store needs. `VACUUM INTO` attaches its target.
    private static let limits: [(Int32, Int32)] = [
        (SQLITE_LIMIT_LENGTH, 8 << 20), (SQLITE_LIMIT_SQL_LENGTH, 1 << 16), (SQLITE_LIMIT_COLUMN, 32),
        (SQLITE_LIMIT_EXPR_DEPTH, 50), (SQLITE_LIMIT_COMPOUND_SELECT, 4), (SQLITE_LIMIT_VDBE_OP, 25_000),
        (SQLITE_LIMIT_FUNCTION_ARG, 8), (SQLITE_LIMIT_ATTACHED, 1), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
        (SQLITE_LIMIT_VARIABLE_NUMBER, 16), (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]

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

    /// Copies the database to a file of mode 0600, completely or not at all. An existing file stays.
    func copy(to path: String) throws(StorageError) {
        let new = "\(path).new"
        let descriptor = open(new, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StorageError(new, "can't be created", errno: errno) }
        let file = try PrivateFile(descriptor, .file, path: new)
        // Two processes may find a store of an earlier layout at once.
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
            // After some failures SQLite has rolled back by itself, and this fails.
            _ = sqlite.call.sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            throw error
        }
        return result
    }
}
