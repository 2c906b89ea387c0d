internal import NevodStorage

/// A renewal lock that this process holds. It is a mark in the key's row, which outlives the connection, and an advisory lock,
/// which shows other processes that the connection is alive.
struct PostgreSQLRenewalMark: Sendable {
    let key: StorageKey
    /// The number of the advisory lock.
    let lock: UInt64
    /// Different each time a lock is taken.
    let holder: String
    /// Increases each time this key's lock is taken. The server refuses a value that is saved under a lower number.
    let fence: Int64
    /// The worker's connection that holds the advisory lock; nil if no connection holds it.
    var connection: Int?
    /// When the server last confirmed the mark.
    var confirmed: ContinuousClock.Instant
    /// Whether another process has taken the lock over.
    var isLost = false
}

/// The marks of renewals in the rows of their keys.
extension PostgreSQLConnection {
    /// The outcome of an attempt to take a renewal lock.
    struct RenewalAttempt {
        /// The fencing number to save with; nil if another process holds the lock.
        let fence: Int64?
        /// Whether the advisory lock was taken, so no other connection holds it.
        let isLocked: Bool
        /// The other holder, as it was just before the attempt.
        let sight: PostgreSQLRenewalWatch.Sight?
        /// Whether that holder has been silent for its whole term.
        let isPastTerm: Bool
    }

    /// Marks the row of a key if it is free, has a mark of this process, or has the mark to be replaced. Doesn't wait for a
    /// holder that has already saved its value and has no connection any more, perhaps because its process has ended.
    ///
    /// - Parameters:
    ///   - process: The prefix of this process's holders.
    ///   - replacing: A silent holder. Its mark is replaced unless it has given a sign of life meanwhile.
    ///   - isForced: Whether to mark the row without the advisory lock, because the silent holder's connection still has that.
    func mark(
        _ key: StorageKey, lock: UInt64, holder: String, process: String, replacing: PostgreSQLRenewalWatch.Sight?,
        isForced: Bool, term: Duration, _ store: StoreIdentifier, _ schema: PostgreSQLSchema
    ) throws(PostgreSQLError) -> RenewalAttempt {
        // After a concurrent change has finished, the server reads the row again, so it doesn't matter that the snapshot is
        // older.
        let rows = try run(
            """
            WITH attempt AS (SELECT pg_try_advisory_lock($1::int8) AS taken),
            mark AS (
                INSERT INTO \(schema.name).entry AS entry (key, version, fence, holder, beat, renews, since, until)
                SELECT $2::bytea, 0, 1, $3::text, 1, 0, now(), now() + $4::int8 * interval '1 millisecond'
                FROM attempt, \(schema.name).store WHERE (taken OR $5::int8 = 1) AND store.id = $6::bytea
                ON CONFLICT (key) DO UPDATE SET fence = entry.fence + 1, holder = excluded.holder, beat = entry.beat + 1,
                    renews = entry.version, since = excluded.since, until = excluded.until
                WHERE entry.holder IS NULL OR left(entry.holder, length($7::text)) = $7::text
                    OR entry.version > entry.renews OR entry.holder = $8::text AND entry.beat = $9::int8
                RETURNING fence)
            SELECT attempt.taken, (SELECT fence FROM mark), found.holder, found.beat, found.until < now()
            FROM attempt LEFT JOIN \(schema.name).entry AS found ON found.key = $2::bytea
            """,
            [
                .integer(Int64(bitPattern: lock)), .bytes(Array(key.rawValue.utf8)), .text(holder),
                .integer(Int64(term / .milliseconds(1))),
                .integer(isForced ? 1 : 0), .bytes(store.bytes), .text(process), replacing.map { .text($0.holder) } ?? .null,
                replacing.map { .integer($0.beat) } ?? .null,
            ])
        let sight: PostgreSQLRenewalWatch.Sight? =
            rows.isNull(0, 2) ? nil : .init(holder: rows.text(0, 2), beat: rows.integer(0, 3))
        return RenewalAttempt(
            fence: rows.isNull(0, 1) ? nil : rows.integer(0, 1), isLocked: rows.integer(0, 0) == 1, sight: sight,
            isPastTerm: !rows.isNull(0, 4) && rows.integer(0, 4) == 1)
    }

    /// Gives a sign of life for the holders.
    ///
    /// - Returns: the keys whose locks they still hold.
    func beat(
        _ marks: [PostgreSQLRenewalMark], term: Duration, _ schema: PostgreSQLSchema
    ) throws(PostgreSQLError) -> Set<StorageKey> {
        let rows = try run(
            """
            UPDATE \(schema.name).entry SET beat = beat + 1, until = now() + $3::int8 * interval '1 millisecond'
            FROM unnest($1::bytea[], $2::bytea[]) AS mine (key, holder)
            WHERE entry.key = mine.key AND entry.holder = convert_from(mine.holder, 'UTF8') RETURNING entry.key
            """,
            [
                .list(marks.map { Array($0.key.rawValue.utf8) }), .list(marks.map { Array($0.holder.utf8) }),
                .integer(Int64(term / .milliseconds(1))),
            ])
        return Set((0..<rows.count).map { StorageKey(rawValue: rows.text($0, 0)) })
    }

    func tryToLock(_ lock: UInt64) throws(PostgreSQLError) -> Bool {
        try run("SELECT pg_try_advisory_lock($1::int8)", [.integer(Int64(bitPattern: lock))]).integer(0, 0) == 1
    }

    func unlock(_ lock: UInt64) throws(PostgreSQLError) {
        try run("SELECT pg_advisory_unlock($1::int8)", [.integer(Int64(bitPattern: lock))])
    }

    /// Removes a process's mark, and notifies the waiters. Leaves another process's mark alone.
    ///
    /// - Parameter mayUnlock: Whether this connection may hold the advisory lock only for this mark.
    func unmark(
        _ key: StorageKey, lock: UInt64, process: String, mayUnlock: Bool, _ schema: PostgreSQLSchema, _ channel: String
    ) throws(PostgreSQLError) {
        try run(
            """
            WITH freed AS (
                UPDATE \(schema.name).entry SET holder = NULL, since = NULL, until = NULL
                WHERE key = $1::bytea AND left(holder, length($2::text)) = $2::text RETURNING 1)
            SELECT CASE WHEN $3::int8 = 1 THEN pg_advisory_unlock($4::int8) END, pg_notify($5::text, $6::text),
                (SELECT count(*) FROM freed)
            """,
            [
                .bytes(Array(key.rawValue.utf8)), .text(process), .integer(mayUnlock ? 1 : 0),
                .integer(Int64(bitPattern: lock)), .text(channel), .text(PostgreSQLNotification.released(lock).payload),
            ])
    }
}
