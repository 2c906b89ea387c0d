internal import NevodSupport

/// The list of the parameter sets for which a session has stored tokens, under a key of its own, since a storage can't list keys. By
/// it, a logout finds all of them.
///
/// A set is listed before its token is written: a crash between the two leaves a set without a token, which does no harm, whereas
/// nothing would ever revoke a token that isn't listed.
struct ParameterSetIndex: Sendable {
    private let storage: AnyKeyValueStorage
    private let key: StorageKey
    /// Serialises this process's changes, for storages without compare-and-swap.
    private let lock: AsyncLock

    /// Beyond it, the set that was listed first is dropped with its token, so that a caller which makes up sets doesn't fill the storage.
    static let most = 1000

    init(_ storage: AnyKeyValueStorage, key: StorageKey, lock: AsyncLock) {
        self.storage = storage
        self.key = key
        self.lock = lock
    }

    /// The canonical forms of the sets.
    func sets() async throws -> [String] {
        Self.sets(in: try await storage.read(key))
    }

    /// Lists a set, unless it is listed.
    ///
    /// - Parameter drop: deletes the token of a set that gives way to this one, before the set is off the list.
    func add(_ set: String, drop: (String) async throws -> Void) async throws {
        let listed = try await sets()
        guard !listed.contains(set) else { return }
        let dropped = listed.prefix(max(0, listed.count + 1 - Self.most))
        for other in dropped { try await drop(other) }
        try await change { sets in
            sets.removeAll(where: dropped.contains)
            if !sets.contains(set) { sets.append(set) }
        }
    }

    func remove(_ removed: [String]) async throws {
        guard !removed.isEmpty else { return }
        try await change { $0.removeAll(where: removed.contains) }
    }

    private func change(_ body: (inout [String]) -> Void) async throws {
        try await lock.withLock {
            for _ in 0..<100 {
                let stored = try await storage.read(key)
                var sets = Self.sets(in: stored)
                body(&sets)
                let new = sets.isEmpty ? nil : Secret(copying: Array(sets.joined(separator: "\n").utf8))
                if new == stored { return }
                if try await storage.replace(key, stored, new) { return }
            }
            throw StorageError(.other, "\(key)", problem: "other processes changed it each time it was to be written")
        }
    }

    private static func sets(in stored: Secret?) -> [String] {
        guard let stored else { return [] }
        return stored.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
    }
}
