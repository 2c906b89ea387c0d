package import NevodSupport

/// A type-erased storage whose values are secrets. If the storage has no compare-and-swap, ``replace`` reads and then writes,
/// which is atomic only within this process and under a lock that the caller holds.
package struct AnyKeyValueStorage: Sendable {
    package let read: @Sendable (StorageKey) async throws -> Secret?
    /// Nil if the storage doesn't number the versions of its values.
    package let readVersioned: (@Sendable (StorageKey) async throws -> (secret: Secret?, version: Int64))?
    package let write: @Sendable (StorageKey, Secret?) async throws -> Void
    package let replace: @Sendable (StorageKey, _ expected: Secret?, Secret?) async throws -> Bool
    package let changes: (@Sendable () async -> StorageChanges)?
    /// Nil if the storage has no renewal lock.
    package let withRenewalLock: (@Sendable (StorageKey, @Sendable () async -> Void) async throws -> Void)?
    /// Checks that this process still holds a lock that it has taken; nil if the storage has no renewal lock.
    package let confirmRenewalLock: (@Sendable (StorageKey) async throws -> Void)?
    /// Equal for the same storage; nil if the storage is not an object.
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

extension AnyKeyValueStorage {
    /// Returns the same storage with a fallback: while `key` has no value, it returns the value that an earlier program stored
    /// under `old`. The next write stores the new value under `key` and removes the old one, so that a removed value doesn't come
    /// back.
    ///
    /// - Parameter isUsable: returns whether the old value is valid for `key`; an invalid one is neither returned nor removed.
    package func adopting(
        _ old: StorageKey, as key: StorageKey, if isUsable: @escaping @Sendable (Secret) -> Bool
    ) -> AnyKeyValueStorage {
        let adoption = Adoption(storage: self, old: old, key: key, isUsable: isUsable)
        return AnyKeyValueStorage(
            self,
            read: { [read] requested in
                let value = try await read(requested)
                guard value == nil, requested == key else { return value }
                return try await adoption.oldValue()
            }, write: { try await adoption.write($0, $1) }, replace: { try await adoption.replace($0, $1, $2) })
    }
}

private final class Adoption: Sendable {
    private let storage: AnyKeyValueStorage
    private let old: StorageKey
    private let key: StorageKey
    private let isUsable: @Sendable (Secret) -> Bool
    /// Whether the old value is known to be gone. Spares each later access a second read.
    private let isDone = Locked(false)

    init(
        storage: AnyKeyValueStorage, old: StorageKey, key: StorageKey, isUsable: @escaping @Sendable (Secret) -> Bool
    ) {
        self.storage = storage
        self.old = old
        self.key = key
        self.isUsable = isUsable
    }

    func write(_ key: StorageKey, _ value: Secret?) async throws {
        guard key == self.key else { return try await storage.write(key, value) }
        // A removal starts with the old value: if the process ends in between, that value must not come back.
        if value == nil { try await removeOld() }
        try await storage.write(key, value)
        if value != nil { try? await removeOld() }
    }

    func replace(_ key: StorageKey, _ expected: Secret?, _ value: Secret?) async throws -> Bool {
        guard key == self.key else { return try await storage.replace(key, expected, value) }
        if let expected, try await storage.read(key) == nil, try await oldValue() == expected {
            guard value != nil else {
                let isReplaced = try await storage.replace(old, expected, nil)
                isDone.withLock { $0 = isReplaced }
                return isReplaced
            }
            guard try await storage.replace(key, nil, value) else { return false }
            try? await removeOld()
            return true
        }
        // A caller that expects no value also expects that there is no old value.
        if expected == nil, try await storage.read(key) == nil, try await oldValue() != nil { return false }
        if value == nil { try await removeOld() }
        guard try await storage.replace(key, expected, value) else { return false }
        if value != nil { try? await removeOld() }
        return true
    }

    func oldValue() async throws -> Secret? {
        guard !isDone.withLock({ $0 }) else { return nil }
        if let value = try await storage.read(old), isUsable(value) { return value }
        isDone.withLock { $0 = true }
        return nil
    }

    private func removeOld() async throws {
        guard let value = try await oldValue() else { return }
        _ = try await storage.replace(old, value, nil)
        isDone.withLock { $0 = true }
    }
}
