internal import Glibc
package import NevodSupport

/// An export, written by ``SecretKeepingStorage/exportValues(of:to:key:)``, while its values are imported. It is only read, as of one
/// instant.
package struct SQLiteExport: Sendable {
    /// The size of the values that one call returns, in bytes.
    private static let maximumBatchSize = 4 << 20

    private let file: File
    private let key: OpenedKey

    /// - Throws: ``StorageError``: `permissions` if others can read the file, or the key is another store's; `damaged` if the file is not
    ///   a store; `other` if it is not an export; and errors of the source.
    package init(_ path: String, key source: any StoreKeySource, schema: SQLiteSchema = .current) async throws {
        let file = try await StorageThread().run { () throws(StorageError) in try File(path, schema) }
        self.file = file
        key = OpenedKey(
            store: file.sealed.store, number: file.number, kind: file.sealed.kind,
            key: try await file.sealed.open(named: path, with: [source])
        )
    }

    /// The next values, in the order of their keys; none at the end. Blocks; used by one thread at a time.
    package func values(after last: StorageKey?) throws(StorageError) -> [(key: StorageKey, secret: Secret)] {
        var (values, size, last): ([(key: StorageKey, secret: Secret)], Int, StorageKey?) = ([], 0, last)
        while values.isEmpty, case let entries = try file.database.entries(after: last), !entries.isEmpty {
            for (key, entry) in entries where size < Self.maximumBatchSize {
                guard let secret = try self.key.open(entry, key, in: file.database.path) else { continue }
                values.append((key, secret))
                size += secret.count
            }
            last = entries.last?.key
        }
        return values
    }

    private final class File: Sendable {
        // Used by one thread at a time.
        nonisolated(unsafe) let database: SQLiteDatabase
        let sealed: SealedKey
        let number: Int64

        init(_ path: String, _ schema: SQLiteSchema) throws(StorageError) {
            guard access(path, F_OK) == 0 else { throw StorageError(path, "can't be opened", errno: errno) }
            let files = StoreFiles(path)
            _ = try files.checkPrivate()
            guard try files.resolved().checkPrivate() > 0 else {
                throw StorageError(.damaged, path, problem: "is empty", remedy: "give another file")
            }
            guard try files.resolved().isOfOneFile() else {
                throw StorageError(
                    .other, path, problem: "is a store, perhaps one in use, and not an export",
                    remedy: "export that store, and import the exported file")
            }
            let given = try SQLiteDatabase(files.resolved().path, isReadOnly: true)
            let layout = try SQLiteSchema.version(of: given)
            guard layout > 0 else {
                throw StorageError(.damaged, path, problem: "is not a store", remedy: "give another file")
            }
            database = layout < schema.version ? try Self.migrated(given, schema) : given
            // Also refuses a later layout.
            try schema.migrate(database)
            // A read transaction for the whole import: other processes' changes stay invisible.
            try database.execute("BEGIN")
            guard let (sealed, number) = try database.sealedKey() else {
                throw StorageError(.damaged, path, problem: "has lost its key", remedy: "give another file")
            }
            (self.sealed, self.number) = (sealed, number)
        }

        /// A copy in an unlinked file, migrated to the current layout.
        private static func migrated(_ given: SQLiteDatabase, _ schema: SQLiteSchema) throws(StorageError) -> SQLiteDatabase {
            let place = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            var folder = Array("\(place)/nevod-import-XXXXXX".utf8CString)
            guard mkdtemp(&folder) != nil else { throw StorageError(place, "can't hold a copy of the export", errno: errno) }
            let path = String(decoding: folder.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            defer { rmdir(path) }
            let copy = try StoreFiles("\(path)/export").resolved().path
            try given.copy(to: copy)
            defer { unlink(copy) }
            let database = try SQLiteDatabase(copy)
            try database.run("PRAGMA journal_mode = MEMORY")
            try schema.migrate(database, isCopy: true)
            return database
        }
    }
}
