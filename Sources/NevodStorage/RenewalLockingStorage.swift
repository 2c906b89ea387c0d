/// A storage that several processes share, and that lets one of them at a time renew what is stored under a key.
///
/// A server that rotates its tokens takes the second use of one for a theft, and ends the session. Two processes that refresh
/// the same token at once do just that. Under this lock the second finds the token that the first has stored.
public protocol RenewalLockingStorage: KeyValueStorage {
    /// Runs `body` while nobody else, in this process or another, does so for the same key. The lock is the system's or the
    /// server's: if its holder dies, it is free.
    ///
    /// - Throws: what keeps the lock from being taken, ``StorageError`` of code `busy` for one; `CancellationError`. What came of
    ///   `body` is its own matter.
    func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws
}
