public import NevodHost
internal import NevodStorage

/// Why a ``StorageMigrator`` has changed nothing.
public enum MigrationError: Error, Sendable, Hashable {
    /// The store has a format that no step knows, as after a later version of the app was replaced by this one.
    case unknownFormat(found: Int, known: ClosedRange<Int>)
    /// The format asked for is that of no step.
    case unknownTarget(Int, known: ClosedRange<Int>)
    /// A step has no way back.
    case noWayBack(from: Int, to: Int)
    /// A step has set the value of a key that it doesn't name.
    case unnamedKey(StorageKey, from: Int, to: Int)
    /// The steps don't follow one another, each from the format of the one before to a higher one.
    case steps
}

extension MigrationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownFormat(let found, let known):
            "the store has format \(found), and this version of the app knows \(known.lowerBound) to \(known.upperBound);"
                + (found > known.upperBound ? " update the app" : " open it with an earlier version of the app first")
        case .unknownTarget(let version, let known):
            "format \(version) is none of \(known.lowerBound) to \(known.upperBound), which the steps of StorageMigrator know; add a step"
        case .noWayBack(let from, let to):
            "the store can't go back from format \(from) to \(to): that StorageMigration has no `back`; use an app that knows format \(from)"
        case .unnamedKey(let key, let from, let to):
            "the StorageMigration from \(from) to \(to) sets \(key), which is none of its keys; add it to them"
        case .steps:
            "the steps of StorageMigrator don't follow one another; give at least one, in order, each from the format of the one before"
        }
    }
}
