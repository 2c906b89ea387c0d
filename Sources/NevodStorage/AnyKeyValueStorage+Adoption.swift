package import NevodSupport

extension AnyKeyValueStorage {
    /// Returns the same storage, in which `key` also has the value that a former program stored under `old`, as long as it has
    /// none of its own. The next write stores the new value under `key` and removes the old one, so that a value which was
    /// removed doesn't come back.
    ///
    /// - Parameter isUsable: returns whether the old value is one that `key` may have; any other is neither returned nor removed.
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
    /// Whether there is no old value to be found any more. Spares each later access a second one.
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
        // The old value goes first where the new one is none: if the process ends between the two, it must not come back.
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
        // An expected absence means that there is no old value either.
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
