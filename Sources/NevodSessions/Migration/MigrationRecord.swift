internal import Foundation
internal import NevodHost
internal import NevodStorage
internal import NevodSupport

/// The change of one value by a step of a migration.
struct MigrationChange: Sendable, Equatable {
    let key: StorageKey
    let old: Secret?
    let new: Secret?
}

/// The version of a store's format, and the step under way, as they are stored. The step's changes are saved here, in one write,
/// before any of them is made, so that any process can complete them.
struct MigrationRecord: Sendable {
    struct Plan: Sendable {
        let to: Int
        let changes: [MigrationChange]
        /// Whether a process may have begun the step's removals. If not, a missing value was removed by another program.
        var mayHaveRemoved: Bool
        /// Whether the step is being undone, because another program has changed one of the values meanwhile.
        var isUndone = false
        /// The keys whose values the step has removed and must restore. Known once the step is being undone.
        var removed: [StorageKey] = []
    }

    var version: Int
    var plan: Plan?

    init(version: Int, plan: Plan? = nil) {
        self.version = version
        self.plan = plan
    }

    // MARK: Coding

    private struct Stored: StoredRecord {
        static let content = "the version of a format"
        static let remedy = "give StorageMigrator another key, or restore the store from a backup"

        struct Plan: Codable {
            let to: Int
            let changes: [Change]
            /// Missing means true: plans that only remove values leave it out, and so did earlier versions of this library.
            let mayHaveRemoved: Bool?
            let isUndone: Bool?
            let removed: [String]?
        }

        struct Change: Codable {
            let key: String
            let old: Data?
            let new: Data?
        }

        let version: Int
        let plan: Plan?
    }

    static func decode(_ secret: Secret, of key: StorageKey) throws(StorageError) -> MigrationRecord {
        let stored = try Stored.decode(secret, of: key)
        let plan = stored.plan.map { plan in
            Plan(
                to: plan.to,
                changes: plan.changes.map { change in
                    MigrationChange(
                        key: StorageKey(rawValue: change.key), old: change.old.map { Secret(wipingCopy: $0) },
                        new: change.new.map { Secret(wipingCopy: $0) })
                }, mayHaveRemoved: plan.mayHaveRemoved ?? true, isUndone: plan.isUndone ?? false,
                removed: (plan.removed ?? []).map(StorageKey.init(rawValue:)))
        }
        return MigrationRecord(version: stored.version, plan: plan)
    }

    func encoded() throws -> Secret {
        let plan = plan.map { plan in
            Stored.Plan(
                to: plan.to,
                changes: plan.changes.map { change in
                    Stored.Change(
                        key: change.key.rawValue, old: change.old?.copied(as: Data.self), new: change.new?.copied(as: Data.self))
                }, mayHaveRemoved: plan.mayHaveRemoved ? nil : false, isUndone: plan.isUndone ? true : nil,
                removed: plan.removed.isEmpty ? nil : plan.removed.map(\.rawValue))
        }
        return try Stored(version: version, plan: plan).encoded()
    }
}
