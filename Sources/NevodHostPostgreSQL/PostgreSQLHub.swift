internal import NevodStorage
internal import NevodSupport

/// What a store does with what it hears: what it remembers is forgotten, who watches is told, who waits for a lock tries again.
final class PostgreSQLHub: Sendable {
    let cache = Locked(RemoteCache())
    let observers = StorageObservers()
    let locks: PostgreSQLRenewalLocks

    init(_ locks: PostgreSQLRenewalLocks) {
        self.locks = locks
    }

    func take(_ event: PostgreSQLListener.Event) {
        switch event {
        case .isListening(let isListening):
            let keys = cache.withLock { $0.setListening(isListening) }
            // Once they can be read again; what has changed since then is heard.
            if isListening { for key in keys { observers.notify(key) } }
        case .news(.changed(let key, let version)):
            cache.withLock { $0.hear(of: version, of: key) }
            observers.notify(key)
        case .news(.released(let lock)): locks.didRelease(lock)
        }
    }
}
