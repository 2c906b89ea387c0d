/// A storage that can replace a value if it is still the expected one, atomically with respect to all tasks, threads and processes
/// that use the same storage.
public protocol CompareAndSwapStorage: KeyValueStorage {
    /// - Parameters:
    ///   - expected: The expected value; nil if there should be none.
    ///   - value: The new value; nil removes.
    ///   - key: The key of the value.
    /// - Returns: whether the stored value was the expected one, and was replaced.
    func replace(_ expected: Value?, with value: Value?, for key: StorageKey) async throws -> Bool
}
