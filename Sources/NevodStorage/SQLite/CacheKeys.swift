internal import NevodSupport

/// The keys of a cache's file, all derived from its data key.
final class CacheKeys: Sendable {
    let store: StoreIdentifier
    /// For digests of resources and users.
    let digests: Secret
    private let data: SealingKey
    /// The last epoch and its key.
    private let current = Locked<(epoch: [UInt8], key: SealingKey)?>(nil)

    init(_ store: StoreIdentifier, _ data: SealingKey) {
        self.store = store
        self.data = data
        digests = data.derived(for: Array("nevod cache digests".utf8)).bytes
    }

    /// The key that seals the records of an epoch.
    func key(of epoch: [UInt8]) -> SealingKey {
        current.withLock { current in
            if let current, current.epoch == epoch { return current.key }
            let key = data.derived(for: Array("nevod cache records ".utf8) + epoch)
            current = (epoch, key)
            return key
        }
    }
}
