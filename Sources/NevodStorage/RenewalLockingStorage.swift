/// A storage that several processes share, with a lock that lets only one of them renew a key's value at once.
///
/// A server that rotates its tokens treats the second use of a token as theft, and ends the session. Two processes that refresh the
/// same token at once would cause that. Under this lock, the second one finds the token that the first has stored.
public protocol RenewalLockingStorage: KeyValueStorage {
    /// Runs `body` under the key's lock, which excludes other tasks and other processes. The system or the server holds the lock, and
    /// releases it when its holder dies.
    ///
    /// - Throws: an error if the lock can't be taken, such as ``StorageError`` of code `busy`; `CancellationError`. The body itself
    ///   can't fail.
    func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws

    /// Checks that this process still holds a lock that it has taken. Called before the request of a renewal is sent: a holder that was
    /// away for long, and has not sent anything yet, must stop. The default does nothing, which suits a lock that can't be lost.
    ///
    /// - Throws: an error if another process holds the lock by now, or may hold it.
    func confirmRenewalLock(for key: StorageKey) async throws
}

extension RenewalLockingStorage {
    public func confirmRenewalLock(for key: StorageKey) async throws {}
}
