internal import NevodSupport

/// The observers of a store's changes, each with the set of keys that it has not read yet. An observer is removed when it stops
/// reading. (``ValueObservers``, in contrast, pass on the latest value.)
package final class StorageObservers: Sendable {
    /// Begins what makes changes known. Must not retain the observers, whose store would never be released.
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

    /// - Parameter begin: called when the first observer comes; its result is released when the last one has gone. Nothing is begun
    ///   in a process that observes nothing.
    package init(whileObserved begin: @escaping Beginning = { _ in nil }) {
        self.begin = begin
    }

    /// Passes on what other stores report, for each that reports anything.
    package convenience init(forwarding sources: [(@Sendable () async -> StorageChanges)?]) {
        let sources = sources.compactMap(\.self)
        self.init { notify in sources.isEmpty ? nil : StorageForwarding(sources, to: notify) }
    }

    deinit {
        for observer in state.withLock({ $0.observers.values }) { observer.signal.finish() }
    }

    package var count: Int { state.withLock { $0.observers.count } }

    /// For a store whose changes are known at once. Others wait for ``begun()`` afterwards.
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

    /// Under a lock of its own, so that the last of concurrent calls finds what the others have left. An activity ends before the next
    /// one begins.
    private func updateActivity(restarting: Bool = false) {
        activity.withLock { activity in
            if count == 0 || restarting { activity = nil }
            if count > 0, activity == nil { activity = begin { [weak self] key in self?.notify(key) } }
        }
    }
}
