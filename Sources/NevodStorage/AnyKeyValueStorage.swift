package import NevodSupport

/// A type-erased storage whose values are secrets. For a storage without compare-and-swap, ``replace`` reads and then writes,
/// which is atomic only under a lock that the caller holds, within this process.
package struct AnyKeyValueStorage: Sendable {
    package let read: @Sendable (StorageKey) async throws -> Secret?
    /// nil if the storage doesn't number the versions of its values.
    package let readVersioned: (@Sendable (StorageKey) async throws -> (secret: Secret?, version: Int64))?
    package let write: @Sendable (StorageKey, Secret?) async throws -> Void
    package let replace: @Sendable (StorageKey, _ expected: Secret?, Secret?) async throws -> Bool
    package let changes: (@Sendable () async -> StorageChanges)?
    /// nil if the storage has no renewal lock, because it isn't shared or offers none.
    package let withRenewalLock: (@Sendable (StorageKey, @Sendable () async -> Void) async throws -> Void)?
    /// Checks that a lock which was taken is still held; nil if there is none.
    package let confirmRenewalLock: (@Sendable (StorageKey) async throws -> Void)?
    /// Equal for the same storage; nil for one without identity.
    package let identity: ObjectIdentifier?

    package init(_ storage: some KeyValueStorage) {
        if let storage = storage as? any SecretKeepingStorage {
            read = { key in try await storage.secret(for: key) }
            write = { key, secret in try await storage.set(secret, for: key) }
        } else {
            read = { key in try await storage.copiedSecret(for: key) }
            write = { key, secret in try await storage.write(secret, for: key) }
        }
        if let storage = storage as? any VersionedStorage {
            readVersioned = { key in try await storage.versionedSecret(for: key) }
        } else {
            readVersioned = nil
        }
        identity = Self.identity(of: storage)
        replace = Self.replacement(storage)
        changes = Self.changes(storage)
        withRenewalLock = Self.renewalLock(storage)
        if let storage = storage as? any RenewalLockingStorage {
            confirmRenewalLock = { key in try await storage.confirmRenewalLock(for: key) }
        } else {
            confirmRenewalLock = nil
        }
    }

    init(
        _ storage: AnyKeyValueStorage, read: (@Sendable (StorageKey) async throws -> Secret?)? = nil,
        write: @escaping @Sendable (StorageKey, Secret?) async throws -> Void,
        replace: @escaping @Sendable (StorageKey, Secret?, Secret?) async throws -> Bool
    ) {
        self.read = read ?? storage.read
        readVersioned = storage.readVersioned
        self.write = write
        self.replace = replace
        changes = storage.changes
        withRenewalLock = storage.withRenewalLock
        confirmRenewalLock = storage.confirmRenewalLock
        identity = storage.identity
    }

    /// Returns the same storage, which awaits `note` before and after it stores a value, but not when it removes one.
    package func notingWrites(_ note: @escaping @Sendable () async throws -> Void) -> AnyKeyValueStorage {
        AnyKeyValueStorage(
            self,
            write: { [write] key, secret in
                guard secret != nil else { return try await write(key, secret) }
                try await note()
                try await write(key, secret)
                try await note()
            },
            replace: { [replace] key, expected, secret in
                guard secret != nil else { return try await replace(key, expected, secret) }
                try await note()
                let isReplaced = try await replace(key, expected, secret)
                if isReplaced { try await note() }
                return isReplaced
            })
    }

    private static func replacement(
        _ storage: some KeyValueStorage
    ) -> @Sendable (StorageKey, Secret?, Secret?) async throws -> Bool {
        if let storage = storage as? any SecretKeepingStorage {
            return { key, expected, secret in try await storage.replace(expected, with: secret, for: key) }
        }
        if let storage = storage as? any CompareAndSwapStorage {
            return { key, expected, secret in try await storage.swap(expected, secret, for: key) }
        }
        return { key, expected, secret in
            guard try await storage.copiedSecret(for: key) == expected else { return false }
            try await storage.write(secret, for: key)
            return true
        }
    }

    private static func renewalLock(
        _ storage: some KeyValueStorage
    ) -> (@Sendable (StorageKey, @Sendable () async -> Void) async throws -> Void)? {
        guard let storage = storage as? any RenewalLockingStorage else { return nil }
        return { key, body in try await storage.withRenewalLock(for: key, body) }
    }

    private static func changes(_ storage: some KeyValueStorage) -> (@Sendable () async -> StorageChanges)? {
        guard let storage = storage as? any ObservableStorage else { return nil }
        return { await storage.stream() }
    }

    private static func identity(of storage: some KeyValueStorage) -> ObjectIdentifier? {
        type(of: storage) is AnyObject.Type ? ObjectIdentifier(storage as AnyObject) : nil
    }
}

extension KeyValueStorage {
    fileprivate func copiedSecret(for key: StorageKey) async throws -> Secret? {
        try await data(for: key).map { Secret(wipingCopy: $0) }
    }

    fileprivate func write(_ secret: Secret?, for key: StorageKey) async throws {
        guard let secret else { return try await remove(for: key) }
        try await set(secret.copied(as: Value.self), for: key)
    }
}

extension CompareAndSwapStorage {
    fileprivate func swap(_ expected: Secret?, _ secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await replace(expected?.copied(as: Value.self), with: secret?.copied(as: Value.self), for: key)
    }
}

extension ObservableStorage {
    fileprivate func stream() async -> StorageChanges {
        let changes = await changes()
        return changes as? StorageChanges ?? StorageChanges(changes)
    }
}
