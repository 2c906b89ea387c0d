internal import NevodSupport

/// The records of a cache's file within one transaction. Used on the thread of a connection.
///
/// Each record has a head and a body, sealed for its number, its resource and its part (its users). Resources and parts are
/// digests that other code makes with the file's key.
package struct CacheRecords {
    package struct Found {
        package let id: Int64
        package let head: [UInt8]
    }

    /// How many changes of resources are remembered. A response that was requested before them isn't stored.
    private static let rememberedChanges: Int64 = 1024
    /// AES-GCM with random nonces is safe for 2³² values (NIST SP 800-38D §8.3), and a record has two values.
    private static let numberLimit: Int64 = 1 << 31
    /// The most records that a search reads. It is more than a writer stores for a resource, and limits the work that a
    /// manipulated file can cause.
    private static let foundLimit: Int64 = 32

    package private(set) var moment: CacheMoment
    /// Records that were found but don't open, because they were damaged.
    package private(set) var unopened: [Int64] = []
    /// Whether an invalidation has removed a record.
    package private(set) var hasInvalidated = false
    private var last: Int64
    private let keys: CacheKeys
    private let key: SealingKey
    private let database: SQLiteDatabase
    private let byteLimit: Int
    private var isChanged = false

    init(_ database: SQLiteDatabase, _ keys: CacheKeys, byteLimit: Int) throws(StorageError) {
        var state: (epoch: [UInt8], changes: Int64, last: Int64)?
        try database.run("SELECT epoch, changes, last FROM state") { state = ($0.blob(0), $0.integer(1), $0.integer(2)) }
        guard let state, state.epoch.count == 16, (0..<1 << 53).contains(state.changes),
            (0...Self.numberLimit).contains(state.last)
        else { throw Self.damaged(database, "has lost its state") }
        moment = CacheMoment(epoch: state.epoch, changes: state.changes)
        last = state.last
        key = keys.key(of: state.epoch)
        (self.database, self.keys, self.byteLimit) = (database, keys, byteLimit)
    }

    private static func damaged(_ database: SQLiteDatabase, _ problem: String) -> StorageError {
        StorageError(.damaged, database.path, problem: problem)
    }

    // MARK: Reading

    /// The heads of the records of a resource and a part, the newest first.
    package mutating func find(_ resource: [UInt8], _ part: [UInt8]) throws(StorageError) -> [Found] {
        var sealed: [(id: Int64, head: [UInt8])] = []
        try database.run(
            "SELECT id, head FROM record WHERE resource = ? AND part = ? ORDER BY id DESC LIMIT ?",
            [.blob(resource), .blob(part), .integer(Self.foundLimit)]
        ) { sealed.append(($0.integer(0), $0.blob(1))) }
        var found: [Found] = []
        for (id, head) in sealed {
            if let head = key.openBytes(head, for: place("head", id, resource, part)) {
                found.append(Found(id: id, head: head))
            } else {
                unopened.append(id)
            }
        }
        return found
    }

    /// - Returns: nil if there is no such record.
    package mutating func body(of id: Int64, _ resource: [UInt8], _ part: [UInt8]) throws(StorageError) -> [UInt8]? {
        var sealed: [UInt8]?
        try database.run("SELECT body FROM record WHERE id = ?", [.integer(id)]) { sealed = $0.blob(0) }
        guard let sealed else { return nil }
        let body = key.openBytes(sealed, for: place("body", id, resource, part))
        if body == nil { unopened.append(id) }
        return body
    }

    /// Whether the resource may have changed since then.
    package func hasChanged(_ resource: [UInt8], since then: CacheMoment) throws(StorageError) -> Bool {
        guard then.epoch == moment.epoch, (moment.changes - Self.rememberedChanges...moment.changes).contains(then.changes) else {
            return true
        }
        return try database.integer("SELECT number FROM change WHERE resource = ?", [.blob(resource)]) > then.changes
    }

    /// The number of records, and the bytes of their sealed heads and bodies.
    package func size() throws(StorageError) -> (count: Int, bytes: Int) {
        var size = (count: 0, bytes: 0)
        try database.run("SELECT count(*), ifnull(sum(length(head) + length(body)), 0) FROM record") {
            size = (Int($0.integer(0)), Int($0.integer(1)))
        }
        return size
    }

    // MARK: Writing

    package mutating func insert(
        _ head: [UInt8], _ body: [UInt8], _ resource: [UInt8], _ part: [UInt8]
    ) throws(StorageError) {
        guard last < Self.numberLimit else {
            throw Self.damaged(database, "has sealed the most records that are safe with one key")
        }
        last += 1
        isChanged = true
        let sealed = (
            head: key.seal(head, for: place("head", last, resource, part)),
            body: key.seal(body, for: place("body", last, resource, part))
        )
        try makeRoom(for: sealed.head.count + sealed.body.count)
        try database.run(
            """
            INSERT INTO record (id, resource, part, used, head, body)
            VALUES (?, ?, ?, (SELECT ifnull(max(used), 0) + 1 FROM record), ?, ?)
            """, [.integer(last), .blob(resource), .blob(part), .blob(sealed.head), .blob(sealed.body)])
    }

    package func remove(_ id: Int64) throws(StorageError) {
        try database.run("DELETE FROM record WHERE id = ?", [.integer(id)])
    }

    /// Notes that a record was used, so that less recently used ones are removed first.
    package func touch(_ id: Int64) throws(StorageError) {
        try database.run(
            "UPDATE record SET used = (SELECT max(used) + 1 FROM record) WHERE id = ? AND used < (SELECT max(used) FROM record)",
            [.integer(id)])
    }

    /// Removes the records of a resource, whatever their part.
    package mutating func invalidate(_ resource: [UInt8]) throws(StorageError) {
        try database.run("DELETE FROM record WHERE resource = ?", [.blob(resource)])
        hasInvalidated = hasInvalidated || database.changes > 0
        moment = CacheMoment(epoch: moment.epoch, changes: moment.changes + 1)
        isChanged = true
        try database.run(
            "INSERT INTO change (resource, number) VALUES (?, ?) ON CONFLICT (resource) DO UPDATE SET number = excluded.number",
            [.blob(resource), .integer(moment.changes)])
        guard moment.changes % 256 == 0 else { return }
        try database.run("DELETE FROM change WHERE number <= ?", [.integer(moment.changes - Self.rememberedChanges)])
    }

    /// Removes everything. Also replaces the epoch, from which the key of the records is derived. So what is left of them on the
    /// device no longer opens, and a response that was requested before isn't stored.
    package mutating func removeAll() throws(StorageError) {
        try database.execute("DELETE FROM record")
        try database.execute("DELETE FROM change")
        moment = CacheMoment(epoch: StoreIdentifier.random().bytes, changes: moment.changes)
        // The old epoch is overwritten. The rest is sealed, and overwriting it would mean writing each page.
        try database.run("PRAGMA secure_delete = ON")
        try save()
        try database.run("PRAGMA secure_delete = OFF")
    }

    /// Ends the transaction.
    mutating func finish() throws(StorageError) {
        if isChanged { try save() }
    }

    private func save() throws(StorageError) {
        try database.run(
            "UPDATE state SET epoch = ?, changes = ?, last = ?", [.blob(moment.epoch), .integer(moment.changes), .integer(last)])
    }

    /// Removes the least recently used records until there is room for this many bytes.
    private func makeRoom(for count: Int) throws(StorageError) {
        // A large record has pages of its own; a small one shares pages.
        while try usedBytes() > max(0, byteLimit - count - 2 * CacheFile.pageSize) {
            let oldest = try database.integer("SELECT id FROM record ORDER BY used LIMIT 1")
            guard oldest != 0 else { return }
            try remove(oldest)
            // A damaged index lists records that don't exist.
            guard database.changes == 1 else { throw Self.damaged(database, "its index lists a record that isn't there") }
        }
    }

    private func usedBytes() throws(StorageError) -> Int {
        let pages = try database.integer("PRAGMA page_count") - database.integer("PRAGMA freelist_count")
        return Int(clamping: pages) * CacheFile.pageSize
    }

    private func place(_ part: String, _ id: Int64, _ resource: [UInt8], _ users: [UInt8]) -> [UInt8] {
        SealedPlace.cached(part, id, resource, users, in: keys.store)
    }
}

/// A point in the history of a cache's file. A response that was requested at this point is stored later only if its resource
/// hasn't changed since.
package struct CacheMoment: Sendable, Equatable {
    /// Random; replaced when everything is removed.
    let epoch: [UInt8]
    /// The number of changes of resources so far.
    let changes: Int64
}

/// The keys of a cache's file, all derived from its data key.
final class CacheKeys: Sendable {
    let store: StoreIdentifier
    /// For digests of resources and users.
    let digests: Secret
    private let data: SealingKey
    /// The last epoch and its key.
    private let current = Locked<(epoch: [UInt8], key: SealingKey)?>(nil)

    init(_ store: StoreIdentifier, _ data: SealingKey) {
        self.store = store
        self.data = data
        digests = data.derived(for: Array("nevod cache digests".utf8)).bytes
    }

    /// The key that seals the records of an epoch.
    func key(of epoch: [UInt8]) -> SealingKey {
        current.withLock { current in
            if let current, current.epoch == epoch { return current.key }
            let key = data.derived(for: Array("nevod cache records ".utf8) + epoch)
            current = (epoch, key)
            return key
        }
    }
}
