package import NevodSupport

/// A file of sealed records that may be lost at any time, shared by several processes. Knows neither what a record holds nor when it may
/// be used.
///
/// A file that another process has replaced is noticed before it is used: calls then fail with `unavailable`, and opening it again helps.
package final class CacheFile: Sendable {
    static let pageSize = 4096

    private let reading: CacheConnection
    let writing: CacheConnection
    private let keys: CacheKeys
    private let byteLimit: Int

    init(_ reading: CacheConnection, _ writing: CacheConnection, _ keys: CacheKeys, byteLimit: Int) {
        (self.reading, self.writing, self.keys, self.byteLimit) = (reading, writing, keys, byteLimit)
    }

    /// A key for digests of resources and users: as secret as the file's own, and the same for all processes that use the file.
    package var digestKey: Secret { keys.digests }

    /// Reads from one state of the file, on a thread of the readers: a writer doesn't hold it up.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (inout CacheRecords) throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        let (keys, byteLimit) = (keys, byteLimit)
        return try await reading.run { (database) throws(StorageError) in
            try database.snapshot { () throws(StorageError) in
                var records = try CacheRecords(database, keys, byteLimit: byteLimit)
                return try body(&records)
            }
        }
    }

    /// Changes the file: makes all changes of the body, or none.
    ///
    /// - Parameter resources: are invalidated by the body. If the file has records of them, the change is on the device when this returns.
    package func write(
        invalidating resources: [[UInt8]] = [],
        _ body: @escaping @Sendable (inout CacheRecords) throws(StorageError) -> Void
    ) async throws(StorageError) {
        let (keys, byteLimit) = (keys, byteLimit)
        try await writing.run { (database) throws(StorageError) in
            var isDurable = false
            for resource in resources where !isDurable {
                isDurable = try database.integer("SELECT 1 FROM record WHERE resource = ? LIMIT 1", [.blob(resource)]) == 1
            }
            if isDurable { try database.run("PRAGMA synchronous = FULL") }
            defer { if isDurable { try? database.run("PRAGMA synchronous = NORMAL") } }
            try database.transaction { () throws(StorageError) in
                var records = try CacheRecords(database, keys, byteLimit: byteLimit)
                try body(&records)
                try records.finish()
            }
        }
    }

    /// Removes all records, on the device as well, and gives back their space.
    package func removeAll() async throws(StorageError) {
        let (keys, byteLimit) = (keys, byteLimit)
        try await writing.run { (database) throws(StorageError) in
            try database.run("PRAGMA synchronous = FULL")
            defer { try? database.run("PRAGMA synchronous = NORMAL") }
            try database.transaction { () throws(StorageError) in
                var records = try CacheRecords(database, keys, byteLimit: byteLimit)
                try records.removeAll()
            }
            // Both only save space, and the log no longer holds the old epoch. Readers of other processes may hold this up.
            try? database.run("PRAGMA incremental_vacuum")
            try? database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }
}
