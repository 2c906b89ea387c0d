/// A storage that reports changes of its values, so that callers need not poll.
public protocol ObservableStorage: KeyValueStorage {
    /// The sequence of changed keys, such as ``StorageChanges``.
    associatedtype Changes: AsyncSequence<StorageKey, Never> & Sendable

    /// The key of each changed value, whichever task or process changed it.
    func changes() async -> Changes
}
