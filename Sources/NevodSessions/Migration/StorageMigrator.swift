public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// Brings what an app has stored into the format of its present version, step by step, forward or back.
///
/// ```swift
/// let migrator = try StorageMigrator(storage: storage, steps: [
///     .session(from: 1, to: 2, access: "old_access_token", refresh: "old_refresh_token"),
///     .renaming(from: 2, to: 3, ["nevod.session": "session"]),
/// ])
/// try await migrator.migrate()
/// ```
///
/// - Each step takes effect as a whole. Its changes are first written under the key of the version, all in one write; a process that
///   ends halfway leaves them there, and the next one completes them. That value must fit in the storage: both the old and the new values.
/// - What a later version of the app has stored is refused, and not touched.
/// - Migrators at once, also those of several processes, wait for one another, if the storage has a renewal lock as those of this
///   library have. An earlier version of the app that changes one of the values at the same time isn't overwritten: the step is undone
///   and done again.
public struct StorageMigrator: Sendable {
    private let storage: AnyKeyValueStorage
    private let key: StorageKey
    private let steps: [StorageMigration]
    private let known: ClosedRange<Int>

    /// - Parameters:
    ///   - storage: the storage of the values; the one that seals them, if there is one.
    ///   - versionKey: the key of the version. A storage without one has the format that the first step begins with.
    ///   - steps: the steps in order.
    /// - Throws: ``MigrationError/steps``.
    public init(
        storage: some KeyValueStorage, versionKey: StorageKey = .format, steps: [StorageMigration]
    ) throws(MigrationError) {
        guard let first = steps.first, let last = steps.last, steps.allSatisfy({ $0.from < $0.to }),
            zip(steps, steps.dropFirst()).allSatisfy({ $0.to == $1.from })
        else { throw .steps }
        self.storage = AnyKeyValueStorage(storage)
        key = versionKey
        self.steps = steps
        known = first.from...last.to
    }

    /// The format of what is stored. Of a step that a process has not completed, it is the format before.
    public func version() async throws -> Int {
        try await read().record.version
    }

    /// Migrates the storage. Call it before the values are used.
    ///
    /// - Parameter version: the format to reach; nil for the last one.
    /// - Returns: the number of steps that were made.
    /// - Throws: ``MigrationError``, the errors of a step: that step, and each that would follow, has changed nothing then; the storage's
    ///   errors, after which another call goes on.
    @discardableResult
    public func migrate(to version: Int? = nil) async throws -> Int {
        let target = version ?? known.upperBound
        guard target == known.upperBound || steps.contains(where: { $0.from == target }) else {
            throw MigrationError.unknownTarget(target, known: known)
        }
        // A task of its own: a caller that is cancelled doesn't stop it halfway.
        return try await Task { try await withLock { try await run(to: target) } }.value
    }

    // MARK: Steps

    private func run(to target: Int) async throws -> Int {
        var (steps, conflicts) = (0, 0)
        while true {
            let (raw, record) = try await read()
            let found = [record.version, record.plan?.to ?? record.version]
            guard found.allSatisfy({ version in version == known.upperBound || self.steps.contains { $0.from == version } })
            else {
                throw MigrationError.unknownFormat(found: found.first { !known.contains($0) } ?? record.version, known: known)
            }
            try checkWay(from: record.plan.map { $0.isUndone ? record.version : $0.to } ?? record.version, to: target)
            if let plan = record.plan {
                if try await complete(plan, record.version, raw) {
                    steps += 1
                } else {
                    conflicts += 1
                    guard conflicts < 20 else {
                        throw StorageError(
                            .busy, "\(key)", problem: "the values of a migration are changed all the time by others",
                            remedy: "stop the earlier versions of the app")
                    }
                }
            } else if record.version == target {
                return steps
            } else {
                steps += try await begin(record.version, target, raw)
            }
        }
    }

    /// Checks the whole way first, so that no step is made of a way that leads nowhere.
    private func checkWay(from version: Int, to target: Int) throws(MigrationError) {
        guard target < version else { return }
        for step in steps where step.from >= target && step.to <= version && step.back == nil {
            throw .noWayBack(from: step.to, to: step.from)
        }
    }

    /// Plans the next step.
    ///
    /// - Returns: the number of steps made: one if there was nothing to change.
    private func begin(_ version: Int, _ target: Int, _ raw: Secret?) async throws -> Int {
        let isForward = version < target
        guard let step = steps.first(where: { (isForward ? $0.from : $0.to) == version }),
            let change = isForward ? step.forward : step.back
        else { throw MigrationError.unknownFormat(found: version, known: known) }
        let next = isForward ? step.to : step.from
        var read: [StorageKey: Secret] = [:]
        for key in step.keys { read[key] = try await storage.read(key) }
        var values = StoredValues(read, of: step.keys)
        try change(&values)
        if let key = values.unnamed { throw MigrationError.unnamedKey(key, from: version, to: next) }
        let changes = values.changes
        let record =
            changes.isEmpty
            ? MigrationRecord(version: next)
            : MigrationRecord(
                version: version,
                plan: MigrationRecord.Plan(
                    to: next, changes: changes, mayHaveRemoved: !changes.contains { $0.new != nil }))
        let isWritten = try await replace(raw, with: record)
        return changes.isEmpty && isWritten ? 1 : 0
    }

    /// Carries a planned step out.
    ///
    /// - Returns: false if it was undone, or if another process has gone on with it.
    private func complete(_ plan: MigrationRecord.Plan, _ version: Int, _ raw: Secret?) async throws -> Bool {
        var (plan, raw) = (plan, raw)
        if !plan.isUndone {
            let mayHaveRemoved = plan.mayHaveRemoved
            var conflict = false
            for change in plan.changes {
                if change.new == nil, !plan.mayHaveRemoved {
                    plan.mayHaveRemoved = true
                    guard try await note(plan, version, replacing: &raw) else { return false }
                }
                if try await storage.replace(change.key, change.old, change.new) {
                    if change.new == nil { plan.removed.append(change.key) }
                    continue
                }
                // Removed by an earlier run, or else by a logout, which must not leave the user logged in under the new keys.
                let isDone = try await storage.read(change.key) == change.new && (change.new != nil || mayHaveRemoved)
                guard isDone else {
                    conflict = true
                    break
                }
            }
            if !conflict { return try await replace(raw, with: MigrationRecord(version: plan.to)) }
            plan.isUndone = true
            guard try await note(plan, version, replacing: &raw) else { return false }
        }
        for change in plan.changes.reversed() {
            // A value that is missing may have been removed by a logout, and must then not come back.
            guard change.new != nil || plan.removed.contains(change.key) else { continue }
            _ = try await storage.replace(change.key, change.new, change.old)
        }
        _ = try await replace(raw, with: MigrationRecord(version: version))
        return false
    }

    // MARK: The record

    private func read() async throws -> (raw: Secret?, record: MigrationRecord) {
        guard let raw = try await storage.read(key) else { return (nil, MigrationRecord(version: known.lowerBound)) }
        return (raw, try MigrationRecord.decode(raw, of: key))
    }

    private func replace(_ raw: Secret?, with record: MigrationRecord) async throws -> Bool {
        try await storage.replace(key, raw, record.encoded())
    }

    /// Writes how far a plan has come.
    ///
    /// - Returns: false if another process has gone on with it.
    private func note(_ plan: MigrationRecord.Plan, _ version: Int, replacing raw: inout Secret?) async throws -> Bool {
        let encoded = try MigrationRecord(version: version, plan: plan).encoded()
        guard try await storage.replace(key, raw, encoded) else { return false }
        raw = encoded
        return true
    }

    // MARK: The lock

    private struct Place: Hashable {
        let storage: ObjectIdentifier?
        let key: StorageKey
    }

    /// Keeps the migrators of this process apart, for storages without a lock of their own.
    private static let mutexes = KeyedMutex<Place>()

    private func withLock<Outcome: Sendable>(_ body: @escaping @Sendable () async throws -> Outcome) async throws -> Outcome {
        let place = Place(storage: storage.identity, key: key)
        try await Self.mutexes.lock(place, until: .now + .seconds(120))
        defer { Self.mutexes.unlock(place) }
        return try await storage.locked(key, body)
    }
}

extension StorageKey {
    /// The default key of the version of what a ``StorageMigrator`` migrates.
    public static let format: StorageKey = "nevod.format"
}
