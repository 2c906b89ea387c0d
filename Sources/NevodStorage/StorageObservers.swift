internal import NevodSupport

/// The observers of a store's changes, each with the set of keys that it has not read yet. An observer is removed when it stops
/// reading. (``ValueObservers``, in contrast, pass on the latest value.)
package final class StorageObservers: Sendable {
    private struct Observer {
        let pending: PendingKeys
        let signal: AsyncStream<Void>.Continuation
    }

    private struct State {
        var observers: [Int: Observer] = [:]
        var nextID = 0
    }

    private let state = Locked(State())

    package init() {}

    deinit {
        for observer in state.withLock({ $0.observers.values }) { observer.signal.finish() }
    }

    var count: Int { state.withLock { $0.observers.count } }

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
        }
        return StorageChanges(pending: pending, signals: signals)
    }

    package func notify(_ key: StorageKey) {
        for observer in state.withLock({ Array($0.observers.values) }) {
            observer.pending.add(key)
            observer.signal.yield()
        }
    }
}
