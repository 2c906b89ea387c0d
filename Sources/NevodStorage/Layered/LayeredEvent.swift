/// An event of a ``LayeredStorage``, to be logged or shown. Holds no value.
public enum LayeredEvent: Sendable, CustomStringConvertible {
    /// The remote store has failed: the local copy is used until ``recovered``.
    case fellBack(any Error)
    /// The remote store works again.
    case recovered
    /// A value that was written while the remote store could not be reached is dropped, because another process has changed the remote
    /// value meanwhile.
    case overruled(StorageKey)
    /// The remote store holds an older version of the value than it did before, as after a restore from a backup: the local copy is
    /// sent there again. Noticed if the remote store is a ``VersionedStorage``.
    case wentBack(StorageKey)
    /// The local copy of a key can't be read or written. The remote store is used, without a fallback.
    case localFailed(StorageKey, any Error)

    /// The text for a log.
    public var description: String {
        switch self {
        case .fellBack(let error): "the remote store failed, the local copy is used: \(error)"
        case .recovered: "the remote store works again"
        case .overruled(let key): "\(key): the remote value has changed meanwhile, and takes precedence"
        case .wentBack(let key): "\(key): the remote store holds an older value than before; the local copy takes precedence"
        case .localFailed(let key, let error): "\(key): the local copy can't be used: \(error)"
        }
    }
}
