internal import Glibc
package import NevodSupport

/// The values of an exported file while they are imported. (``SecretKeepingStorage/exportValues(of:to:key:)`` writes the file.)
/// The whole file is read and checked before any value is taken, because other writers must wait while values are stored.
///
/// The file may come from anyone. So it is read only if it has exactly the tables of a store's layout, and reading takes no more
/// steps than a file of its size needs. Its values stay sealed in memory until they are taken.
package struct SQLiteExport: Sendable {
    /// The size of the values that one call returns, in bytes.
    private static let maximumBatchSize = 4 << 20

    private let path: String
    private let key: OpenedKey
    /// In the order of the keys.
    private let values: [(key: StorageKey, row: SQLiteRegister.Row)]

    /// - Throws: ``StorageError``: `permissions` if others can read the file, or the key is another store's; `damaged` if the
    ///   file is not a store; `other` if it is not an export; and errors of the source.
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

    /// The next values, in the order of their keys; empty at the end. Does no I/O.
    package func values(after last: StorageKey?) throws(StorageError) -> [(key: StorageKey, secret: Secret)] {
        var (found, size): ([(key: StorageKey, secret: Secret)], Int) = ([], 0)
        let start = last.map { last in
            values.partitioningIndex { last.rawValue.utf8.lexicographicallyPrecedes($0.key.rawValue.utf8) }
        }
        for (key, row) in values[(start ?? 0)...].prefix(1000) where size < Self.maximumBatchSize {
            guard let version = UInt64(exactly: row.version), let secret = self.key.open(row.sealed, registered: key, version)
            else {
                throw OpenedKey.unopened(key, in: path)
            }
            found.append((key, secret))
            size += secret.count
        }
        return found
    }

    private final class File: Sendable {
        // Used by one thread at a time.
        nonisolated(unsafe) let database: SQLiteDatabase
        let path: String
        let sealed: SealedKey
        let number: Int64

        init(_ path: String, _ schema: SQLiteSchema) throws(StorageError) {
            guard access(path, F_OK) == 0 else { throw StorageError(path, "can't be opened", errno: errno) }
            let files = try StoreFiles.checked(path)
            let size = try files.checkPrivate()
            guard size > 0 else {
                throw StorageError(.damaged, path, problem: "is empty", remedy: "give another file")
            }
            guard try files.isOfOneFile() else {
                throw StorageError(
                    .other, path, problem: "is a store that may be in use, and not an export",
                    remedy: "export that store, and import the exported file")
            }
            // A row takes about thirty bytes or more. Reading it takes about thirty steps, and happens more than once.
            let budget = 1_000_000 + 10 * min(size, 1 << 40)
            let given = try SQLiteDatabase(files.path, isReadOnly: true, budget: budget)
            let layout = try schema.checkedVersion(of: given)
            guard layout > 0 else {
                throw StorageError(.damaged, path, problem: "is not a store", remedy: "give another file")
            }
            try schema.check(given, layout)
            database = layout < schema.version ? try Self.migrated(given, schema, budget) : given
            // A read transaction lasts until everything is read, so other processes' changes stay invisible.
            try database.execute("BEGIN")
            guard let (sealed, number) = try database.sealedKey() else {
                throw StorageError(.damaged, path, problem: "has lost its key", remedy: "give another file")
            }
            (self.path, self.sealed, self.number) = (path, sealed, number)
        }

        /// Copies the database to an unlinked file, and migrates the copy to the current layout.
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

        /// All values, after checking that each one opens.
        func values(_ key: OpenedKey) throws(StorageError) -> [(key: StorageKey, row: SQLiteRegister.Row)] {
            var values: [(key: StorageKey, row: SQLiteRegister.Row)] = []
            do throws(StorageError) {
                // An export of layout 1 has no register. An export of layout 2 without one is damaged.
                _ = try SQLiteRegister.make(database, key)
                guard var register = try SQLiteRegister(database, key) else { throw SQLiteRegister.damage(path) }
                try database.forEachRow { (name, row) throws(StorageError) in
                    guard try register.open(row, of: name) != nil else { return }
                    values.append((name, row))
                }
                guard try register.missingCount(values.map(\.key)) == 0 else { throw SQLiteRegister.missing(path) }
            } catch {
                // Names the file that was given, not the copy.
                throw StorageError(
                    error.code, path, problem: error.problem, remedy: "give another file", systemCode: error.systemCode)
            }
            return values
        }
    }
}

/// An export is a store in a single file. Any type of store can write and import one.
extension SecretKeepingStorage {
    /// - Parameter path: A path that doesn't exist yet. A failure leaves nothing there.
    /// - Returns: the number of values.
    package func exportValues(of keys: [StorageKey], to path: String, key source: any StoreKeySource) async throws -> Int {
        guard access(path, F_OK) != 0 else {
            throw StorageError(.other, path, problem: "exists already", remedy: "choose another name, or move it elsewhere")
        }
        do {
            let copy = try await SQLiteStorage(path: path, keys: [source])
            var count = 0
            var values: [(StorageKey, Secret)] = []
            for key in keys {
                guard let secret = try await secret(for: key) else { continue }
                values.append((key, secret))
                count += 1
                guard values.count == 1000 else { continue }
                try await copy.setAll(values)
                values = []
            }
            try await copy.setAll(values)
            try await copy.becomeOneFile()
            return count
        } catch {
            for suffix in ["", "-wal", "-shm", "-changes"] { unlink(path + suffix) }
            throw error
        }
    }
}
