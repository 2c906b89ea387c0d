public import NevodSupport

/// A storage that numbers the versions of each value. So a reader can tell an older value, such as one from a backup, from a newer one.
/// (``CompareAndSwapStorage``, in contrast, tells whether two values are equal.)
public protocol VersionedStorage: KeyValueStorage {
    /// The value, nil if nothing is stored, and its version: higher after each change of the value, removals included, and otherwise
    /// never lower.
    func versionedSecret(for key: StorageKey) async throws -> (secret: Secret?, version: Int64)
}
