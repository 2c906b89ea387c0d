public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// Converts an app's stored values to the format of its present version, step by step, forward or back.
///
/// ```swift
/// let migrator = try StorageMigrator(storage: storage, steps: [
///     .session(from: 1, to: 2, access: "old_access_token", refresh: "old_refresh_token"),
///     .renaming(from: 2, to: 3, ["nevod.session": "session"]),
/// ])
/// try await migrator.migrate()
/// ```
///
/// - Each step takes effect as a whole. All its changes, with old and new values, are first saved as one value under the
///   version's key, so that value must fit in the storage. If the process ends halfway, the next one completes them.
/// - Values that a later version of the app has stored are refused and left alone.
/// - Concurrent migrators wait for one another, even across processes if the storage has a renewal lock, as the stores of this
///   library have. If an earlier version of the app changes one of the values meanwhile, its change isn't overwritten: the step
///   is undone and repeated.
public struct StorageMigrator: Sendable {
    private let storage: AnyKeyValueStorage
    private let key: StorageKey
    private let steps: [StorageMigration]
    private let known: ClosedRange<Int>

    /// - Parameters:
    ///   - storage: the storage of the values. If they are sealed, the storage that seals them.
    ///   - versionKey: the version's key. A storage without a version has the format before the first step.
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

    /// The format of the stored values. During an unfinished step, the format before it.
    public func version() async throws -> Int {
        try await read().record.version
    }

    /// Migrates the storage. Call it before the values are used.
    ///
    /// - Parameter version: the format to reach; nil for the last one.
    /// - Returns: the number of steps that were made.
    /// - Throws: ``MigrationError`` and the errors of a step: that step and all later ones have then changed nothing. Also the
    ///   storage's errors: call again to continue.
    @discardableResult
    public func migrate(to version: Int? = nil) async throws -> Int {
        let target = version ?? known.upperBound
        guard target == known.upperBound || steps.contains(where: { $0.from == target }) else {
            throw MigrationError.unknownTarget(target, known: known)
        }
        // Runs in its own task, so that a cancelled caller doesn't stop it halfway.
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
                            .busy, "\(key)", problem: "other programs keep changing the values of the migration",
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

    /// Checks the whole way first, so that no step is made toward a dead end.
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

    /// Carries out a planned step.
    ///
    /// - Returns: false if the step was undone, or if another process has taken it over.
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
                // A missing value was removed by an earlier run, or else by a logout. A logout must not leave the user logged in
                // under the new keys.
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
            // A logout may have removed a missing value, which must then not come back.
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

    /// Saves a plan's progress.
    ///
    /// - Returns: false if another process has taken the plan over.
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

    /// Serializes this process's migrators, for storages without a lock.
    private static let mutexes = KeyedMutex<Place>()

    private func withLock<Outcome: Sendable>(_ body: @escaping @Sendable () async throws -> Outcome) async throws -> Outcome {
        let place = Place(storage: storage.identity, key: key)
        try await Self.mutexes.lock(place, until: .now + .seconds(120))
        defer { Self.mutexes.unlock(place) }
        return try await storage.locked(key, body)
    }
}

extension StorageKey {
    /// The default key of the version that a ``StorageMigrator`` stores.
    public static let format: StorageKey = "nevod.format"
}

/// Why a ``StorageMigrator`` has changed nothing.
public enum MigrationError: Error, Sendable, Hashable {
    /// No step knows the store's format, for example because a later version of the app wrote it.
    case unknownFormat(found: Int, known: ClosedRange<Int>)
    /// No step has the requested format.
    case unknownTarget(Int, known: ClosedRange<Int>)
    /// A step has no way back.
    case noWayBack(from: Int, to: Int)
    /// A step has set the value of a key that it doesn't name.
    case unnamedKey(StorageKey, from: Int, to: Int)
    /// The steps don't form a chain, in which each begins with the format that the previous one ends with.
    case steps
}

extension MigrationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownFormat(let found, let known):
            "the store has format \(found), but this version of the app knows \(known.lowerBound) to \(known.upperBound);"
                + (found > known.upperBound ? " update the app" : " open it with an earlier version of the app first")
        case .unknownTarget(let version, let known):
            "StorageMigrator has no step to format \(version) (its steps go from \(known.lowerBound) to \(known.upperBound)); add one"
        case .noWayBack(let from, let to):
            "the store can't go back from format \(from) to \(to): that StorageMigration has no `back`; use an app that knows format \(from)"
        case .unnamedKey(let key, let from, let to):
            "the StorageMigration from \(from) to \(to) sets \(key), which is not one of its keys; add it"
        case .steps:
            "the steps of StorageMigrator don't form a chain; give at least one, each starting where the previous one ends"
        }
    }
}
