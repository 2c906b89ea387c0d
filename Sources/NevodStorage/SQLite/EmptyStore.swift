/// Whether an empty or missing database is a new store, or has lost its values.
extension StoreFiles {
    /// Creates the file of a new store, if there is none or it is empty.
    ///
    /// - Parameter mustExist: Whether only an existing store may be opened.
    /// - Throws: `damaged` if the files beside it tell that there was a store: its change counters, or a log that isn't empty.
    func makeNew(mustExist: Bool) throws(StorageError) {
        if mustExist { throw StorageError(.damaged, path, problem: "is empty", remedy: "give another file") }
        let wasStore = try ChangeCounters(changes).isOfStore
        let hasLog = try hasLog()
        // Checked again: another process may have created the store meanwhile.
        if wasStore || hasLog, try checkPrivate() == 0 { throw lost }
        try PrivateFile.makeUnopened(path)
    }

    /// The error for a store that has become empty. It isn't silently replaced with a new one.
    var lost: StorageError {
        StorageError(
            .damaged, path, problem: "was a store, and is empty now",
            remedy: "\(StorageError.restoring), or, to start over, remove '\(changes)' and '\(log)'")
    }
}
