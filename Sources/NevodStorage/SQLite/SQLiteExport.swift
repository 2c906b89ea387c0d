internal import Glibc
package import NevodSupport

/// The values of an export, written by ``SecretKeepingStorage/exportValues(of:to:key:)``, while they are imported. The file is read
/// and checked whole before any value is taken, since others have to wait while they are stored.
///
/// The file may come from anyone. So only a file with the tables of a store's layout, and nothing else, is read, and reading takes no
/// more steps than a file of its size needs. Its values stay sealed in memory until they are taken.
package struct SQLiteExport: Sendable {
    /// The size of the values that one call returns, in bytes.
    private static let maximumBatchSize = 4 << 20

    private let path: String
    private let key: OpenedKey
    /// In the order of their keys.
    private let values: [(key: StorageKey, row: SQLiteRegister.Row)]

    /// - Throws: ``StorageError``: `permissions` if others can read the file, or the key is another store's; `damaged` if the file is not
    ///   a store; `other` if it is not an export; and errors of the source.
    package init(_ path: String, key source: any StoreKeySource, schema: SQLiteSchema = .current) async throws {
        let thread = StorageThread()
        let file = try await thread.run { () throws(StorageError) in try File(path, schema) }
        let key = OpenedKey(
            store: file.sealed.store, number: file.number, kind: file.sealed.kind,
            key: try await file.sealed.open(named: path, with: [source])
        )
        self.path = path
        self.key = key
        values = try await thread.run { () throws(StorageError) in try file.values(key) }
    }

    /// The next values, in the order of their keys; none at the end. Does no I/O.
    package func values(after last: StorageKey?) throws(StorageError) -> [(key: StorageKey, secret: Secret)] {
        var (found, size): ([(key: StorageKey, secret: Secret)], Int) = ([], 0)
        for (key, row) in values[start(after: last)...].prefix(1000) where size < Self.maximumBatchSize {
            guard let version = UInt64(exactly: row.version), let secret = self.key.open(row.sealed, registered: key, version)
            else {
                throw OpenedKey.unopened(key, in: path)
            }
            found.append((key, secret))
            size += secret.count
        }
        return found
    }

    /// The position of the first key that follows another.
    private func start(after last: StorageKey?) -> Int {
        guard let last else { return 0 }
        var range = 0..<values.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if last.rawValue.utf8.lexicographicallyPrecedes(values[middle].key.rawValue.utf8) {
                range = range.lowerBound..<middle
            } else {
                range = middle + 1..<range.upperBound
            }
        }
        return range.lowerBound
    }

    private final class File: Sendable {
        // Used by one thread at a time.
        nonisolated(unsafe) let database: SQLiteDatabase
        let path: String
        let sealed: SealedKey
        let number: Int64

        init(_ path: String, _ schema: SQLiteSchema) throws(StorageError) {
            guard access(path, F_OK) == 0 else { throw StorageError(path, "can't be opened", errno: errno) }
            let files = StoreFiles(path)
            _ = try files.checkPrivate()
            let size = try files.resolved().checkPrivate()
            guard size > 0 else {
                throw StorageError(.damaged, path, problem: "is empty", remedy: "give another file")
            }
            guard try files.resolved().isOfOneFile() else {
                throw StorageError(
                    .other, path, problem: "is a store, perhaps one in use, and not an export",
                    remedy: "export that store, and import the exported file")
            }
            // A row takes some thirty bytes at least, and reading it some thirty steps, more than once.
            let budget = 1_000_000 + 10 * min(size, 1 << 40)
            let given = try SQLiteDatabase(files.resolved().path, isReadOnly: true, budget: budget)
            let layout = try schema.checkedVersion(of: given)
            guard layout > 0 else {
                throw StorageError(.damaged, path, problem: "is not a store", remedy: "give another file")
            }
            try schema.check(given, layout)
            database = layout < schema.version ? try Self.migrated(given, schema, budget) : given
            // A read transaction until all is read: other processes' changes stay invisible.
            try database.execute("BEGIN")
            guard let (sealed, number) = try database.sealedKey() else {
                throw StorageError(.damaged, path, problem: "has lost its key", remedy: "give another file")
            }
            (self.path, self.sealed, self.number) = (path, sealed, number)
        }

        /// A copy in an unlinked file, migrated to the current layout.
        private static func migrated(
            _ given: SQLiteDatabase, _ schema: SQLiteSchema, _ budget: Int
        ) throws(StorageError) -> SQLiteDatabase {
            let place = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            var folder = Array("\(place)/nevod-import-XXXXXX".utf8CString)
            guard mkdtemp(&folder) != nil else { throw StorageError(place, "can't hold a copy of the export", errno: errno) }
            let path = String(decoding: folder.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            defer { rmdir(path) }
            let copy = try StoreFiles("\(path)/export").resolved().path
            try given.copy(to: copy)
            defer { unlink(copy) }
            let database = try SQLiteDatabase(copy, budget: 10 * budget)
            try database.run("PRAGMA journal_mode = MEMORY")
            try schema.migrate(database, isCopy: true)
            return database
        }

        /// All values, each of which opens.
        func values(_ key: OpenedKey) throws(StorageError) -> [(key: StorageKey, row: SQLiteRegister.Row)] {
            var values: [(key: StorageKey, row: SQLiteRegister.Row)] = []
            do throws(StorageError) {
                // A copy of layout 1 has none; an export of layout 2 has one, or is damaged.
                _ = try SQLiteRegister.make(database, key)
                guard var register = try SQLiteRegister(database, key) else { throw SQLiteRegister.damage(path) }
                try database.forEachRow { (name, row) throws(StorageError) in
                    guard try register.open(row, of: name) != nil else { return }
                    values.append((name, row))
                }
                guard try register.missingCount(values.map(\.key)) == 0 else { throw SQLiteRegister.missing(path) }
            } catch {
                // Says the file that was given, and not the copy.
                throw StorageError(
                    error.code, path, problem: error.problem, remedy: "give another file", systemCode: error.systemCode)
            }
            return values
        }
    }
}
