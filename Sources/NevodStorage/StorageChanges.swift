internal import NevodSupport

/// The keys whose values have changed, for one reader. A key that changes again before it is read appears once, so a slow or absent
/// reader takes no more memory than there are keys.
///
/// Ends when the store is released, or when the reading task is cancelled.
public struct StorageChanges: AsyncSequence, Sendable {
    let pending: PendingKeys
    let signals: AsyncStream<Void>

    /// For one reader; two iterators split the keys between them.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let pending: PendingKeys
        fileprivate var signals: AsyncStream<Void>.Iterator

        public mutating func next(isolation actor: isolated (any Actor)?) async -> StorageKey? {
            while true {
                if let key = pending.take() { return key }
                guard await signals.next(isolation: actor) != nil else { return nil }
            }
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(pending: pending, signals: signals.makeAsyncIterator())
    }
}

/// Keys in the order of their first change.
final class PendingKeys: Sendable {
    private let keys = Locked<[StorageKey]>([])

    func add(_ key: StorageKey) {
        keys.withLock { if !$0.contains(key) { $0.append(key) } }
    }

    func take() -> StorageKey? {
        keys.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
