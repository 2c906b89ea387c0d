internal import CSQLite

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
            // The statements are valid: if one fails to compile, the tables are not this store's.
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
