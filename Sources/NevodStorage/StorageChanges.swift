internal import NevodSupport

/// The keys whose values have changed, for one reader. A key that changes again before it is read appears once, so the memory for
/// a slow or absent reader is limited by the number of keys.
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
    /// The changes of a store that reports nothing.
    package static var none: StorageChanges {
        StorageChanges(pending: PendingKeys(), signals: AsyncStream { $0.finish() })
    }

    /// Forwards the keys of another sequence.
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

/// The observers of a store's changes, each with the set of keys that it has not read yet. An observer is removed when it stops
/// reading. (``ValueObservers``, in contrast, pass on the latest value.)
package final class StorageObservers: Sendable {
    /// Starts the work that finds changes. Must not retain the observers, or their store would never be released.
    package typealias Beginning = @Sendable (_ notify: @escaping @Sendable (StorageKey) -> Void) -> (any StorageActivity)?

    private struct Observer {
        let pending: PendingKeys
        let signal: AsyncStream<Void>.Continuation
    }

    private struct State {
        var observers: [Int: Observer] = [:]
        var nextID = 0
    }

    private let state = Locked(State())
    private let activity = Locked<(any StorageActivity)?>(nil)
    private let begin: Beginning

    /// - Parameter begin: called when the first observer arrives; its result is released when the last one leaves. Without
    ///   observers, nothing is started.
    package init(whileObserved begin: @escaping Beginning = { _ in nil }) {
        self.begin = begin
    }

    /// Passes on the changes that other stores report.
    package convenience init(forwarding sources: [(@Sendable () async -> StorageChanges)?]) {
        let sources = sources.compactMap(\.self)
        self.init { notify in sources.isEmpty ? nil : StorageForwarding(sources, to: notify) }
    }

    deinit {
        for observer in state.withLock({ $0.observers.values }) { observer.signal.finish() }
    }

    package var count: Int { state.withLock { $0.observers.count } }

    /// For a store that knows its changes at once. Other stores wait for ``begun()`` afterwards.
    package func changes() -> StorageChanges {
        let pending = PendingKeys()
        // One signal suffices, however many keys are pending.
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            state.observers[state.nextID] = Observer(pending: pending, signal: signal)
            return state.nextID
        }
        signal.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.observers.removeValue(forKey: id) }
            self?.updateActivity()
        }
        updateActivity()
        return StorageChanges(pending: pending, signals: signals)
    }

    /// Returns once every later change is reported.
    package func begun() async {
        await activity.withLock { $0 }?.begun()
    }

    /// Begins again, if there are observers.
    package func restart() {
        updateActivity(restarting: true)
    }

    package func notify(_ key: StorageKey) {
        for observer in state.withLock({ Array($0.observers.values) }) {
            observer.pending.add(key)
            observer.signal.yield()
        }
    }

    /// Runs under a lock of its own, so that the last of several concurrent calls sees the result of the others. An activity ends
    /// before the next one begins.
    private func updateActivity(restarting: Bool = false) {
        activity.withLock { activity in
            if count == 0 || restarting { activity = nil }
            if count > 0, activity == nil { activity = begin { [weak self] key in self?.notify(key) } }
        }
    }
}

/// The work that a store does while its changes are observed, such as watching a file. It lasts until this object is released.
package protocol StorageActivity: AnyObject, Sendable {
    /// Returns once every later change is reported.
    func begun() async
}

extension StorageActivity {
    package func begun() async {}
}

/// Passes on the changes of other stores.
package final class StorageForwarding: StorageActivity {
    private let subscription: Task<[StorageChanges], Never>
    private let forwarding: Task<Void, Never>

    package init(_ sources: [@Sendable () async -> StorageChanges], to notify: @escaping @Sendable (StorageKey) -> Void) {
        let subscription = Task {
            var all: [StorageChanges] = []
            for source in sources { all.append(await source()) }
            return all
        }
        self.subscription = subscription
        forwarding = Task {
            await withTaskGroup(of: Void.self) { group in
                for changes in await subscription.value {
                    group.addTask { for await key in changes { notify(key) } }
                }
            }
        }
    }

    deinit {
        forwarding.cancel()
    }

    package func begun() async {
        _ = await subscription.value
    }
}
