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

extension StorageChanges {
    /// The changes of a store that reports none.
    package static var none: StorageChanges {
        StorageChanges(pending: PendingKeys(), signals: AsyncStream { $0.finish() })
    }

    /// Those of another sequence.
    init(_ changes: some AsyncSequence<StorageKey, Never> & Sendable) {
        let pending = PendingKeys()
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            for await key in changes {
                pending.add(key)
                signal.yield()
            }
            signal.finish()
        }
        signal.onTermination = { _ in task.cancel() }
        self.init(pending: pending, signals: signals)
    }
}

/// Keys in the order of their first change.
final class PendingKeys: Sendable {
    private struct State {
        var keys = Deque<StorageKey>()
        /// The same keys, to find one in constant time.
        var known: Set<StorageKey> = []
    }

    private let state = Locked(State())

    func add(_ key: StorageKey) {
        state.withLock { state in
            if state.known.insert(key).inserted { state.keys.append(key) }
        }
    }

    func take() -> StorageKey? {
        state.withLock { state in
            guard let key = state.keys.popFirst() else { return nil }
            state.known.remove(key)
            return key
        }
    }
}
