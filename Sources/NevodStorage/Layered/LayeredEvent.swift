/// What the user of a ``LayeredStorage`` may want to log, or to show. Holds no value.
public enum LayeredEvent: Sendable, CustomStringConvertible {
    /// The remote store has failed: from now on the local copy answers, until ``recovered``.
    case fellBack(any Error)
    /// The remote store answers again.
    case recovered
    /// What was written under a key while the remote store was away is dropped: somebody has changed the remote value meanwhile.
    case overruled(StorageKey)
    /// The local copy of a key can't be read or written. The remote store is used, and nothing would answer in its place.
    case localFailed(StorageKey, any Error)

    /// For a log.
    public var description: String {
        switch self {
        case .fellBack(let error): "the remote store failed, the local copy is used: \(error)"
        case .recovered: "the remote store answers again"
        case .overruled(let key): "\(key): the remote value has changed meanwhile, and counts"
        case .localFailed(let key, let error): "\(key): the local copy can't be used: \(error)"
        }
    }
}
