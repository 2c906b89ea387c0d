internal import NevodStorage
internal import NevodSupport

/// Acts on what the listener hears: invalidates cached values, notifies observers and wakes waiters for renewal locks.
final class PostgreSQLEventDispatcher: Sendable {
    let cache = Locked(RemoteCache())
    let observers = StorageObservers()
    let locks: PostgreSQLRenewalLocks

    init(_ locks: PostgreSQLRenewalLocks) {
        self.locks = locks
    }

    func handle(_ event: PostgreSQLListener.Event) {
        switch event {
        case .isListening(let isListening):
            let keys = cache.withLock { $0.setListening(isListening) }
            // Only once the keys can be read again. Changes after that arrive as notifications.
            if isListening { for key in keys { observers.notify(key) } }
        case .notification(.changed(let key, let version)):
            cache.withLock { $0.noteVersion(version, of: key) }
            observers.notify(key)
        case .notification(.released(let lock)): locks.didRelease(lock)
        }
    }
}
