internal import NevodSupport

// A session keeps a token for each set of parameters (see ``SchemeParameters``), under the session's key followed by a question
// mark and the set.
extension SchemeSession {
    /// The stored token for requests with these parameters, and its changes. Without parameters, or if each has its default, the
    /// same as ``tokenStorage``.
    ///
    /// - Throws: ``PluginError`` for parameters that the scheme doesn't accept.
    public func tokenStorage(for parameters: SchemeParameters) throws -> TokenStorage<PluginToken> {
        try session(for: parameters).tokenStorage
    }

    /// Obtains a token for requests with these parameters, and stores it in place of any earlier one for them.
    ///
    /// - Throws: the errors of ``login()``; ``PluginError`` for parameters that the scheme doesn't accept.
    public func login(parameters: SchemeParameters) async throws {
        try await session(for: parameters).login()
    }

    func session(for parameters: SchemeParameters) throws -> SchemeSession {
        try instance.scheme.checkNames(of: parameters)
        return session(for: try instance.parameterSet(of: parameters))
    }

    /// Returns this session for the default set.
    func session(for set: ParameterSet?) -> SchemeSession {
        guard let set, !set.isDefault, let sessions else { return self }
        return sessions.session(set) { with(set) }
    }

    /// The storage of a set's token, which lists the set before it stores the token.
    static func storage(
        of set: ParameterSet, _ storage: AnyKeyValueStorage, key: StorageKey, _ index: ParameterSetIndex
    ) -> TokenStorage<PluginToken> {
        let canonical = set.canonical
        // Also runs after each write: a logout may have removed the set in between, since there was no token yet.
        let listing = storage.notingWrites {
            try await index.add(canonical) { dropped in
                try await storage.write(Self.key(key, forSet: ParameterSet([], canonical: dropped)), nil)
            }
        }
        return TokenStorage(sharing: listing, key: Self.key(key, forSet: set))
    }

    static func key(_ key: StorageKey, forSet set: ParameterSet) -> StorageKey {
        StorageKey(value: "\(key.rawValue)?\(set.keySuffix)")
    }

    /// Removes sets that no longer have a token from the list.
    func forget(_ sets: [ParameterSet]) async throws {
        var gone: [String] = []
        for set in sets where try await tokenIsGone(set) { gone.append(set.canonical) }
        try await index.remove(gone)
    }

    private func tokenIsGone(_ set: ParameterSet) async throws -> Bool {
        try await store.read(Self.key(key, forSet: set)) == nil
    }

    /// The sets that have stored tokens. A set that the scheme no longer accepts has no values, but its token can still be
    /// revoked.
    func storedSets() async throws -> [ParameterSet] {
        try await index.sets().map { canonical in
            instance.scheme.parameterSet(canonical: canonical) ?? ParameterSet([], canonical: canonical)
        }
    }
}

/// The sessions for the sets of parameters that requests have used, so that all requests with one set share one renewal.
final class ParameterSessions: Sendable {
    private struct Entry {
        let session: SchemeSession
        var lastUse: UInt64
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var uses: UInt64 = 0
    }

    /// How many sets are remembered. Beyond that, the least recently used set is forgotten, unless its token is being renewed or
    /// saved. Its token stays in the storage.
    private static let most = 1000
    private let state = Locked(State())

    /// Returns the session of a set, made by `make` if there is none yet.
    func session(_ set: ParameterSet, _ make: () -> SchemeSession) -> SchemeSession {
        state.withLock { state in
            state.uses += 1
            if let known = state.entries[set.canonical]?.session {
                state.entries[set.canonical]?.lastUse = state.uses
                return known
            }
            if state.entries.count >= Self.most {
                let idle = state.entries.filter { !$0.value.session.isBusy }
                if let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) { state.entries[oldest.key] = nil }
            }
            let made = make()
            state.entries[set.canonical] = Entry(session: made, lastUse: state.uses)
            return made
        }
    }

    var all: [SchemeSession] { state.withLock { $0.entries.values.map(\.session) } }
}

/// The list of the parameter sets for which a session has stored tokens, so that a logout finds all of them. It is stored under a
/// key of its own, since a storage can't list keys.
///
/// A set is listed before its token is written: a crash between the two leaves a set without a token, which does no harm, whereas
/// nothing would ever revoke a token that isn't listed.
struct ParameterSetIndex: Sendable {
    private let storage: AnyKeyValueStorage
    private let key: StorageKey
    /// Serialises this process's changes, for storages without compare-and-swap.
    private let lock: AsyncLock

    /// The maximum number of sets in the list. Beyond that, the set that was listed first is dropped with its token, so that a
    /// caller that makes up sets doesn't fill the storage.
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

    /// Adds a set to the list, unless it is there already.
    ///
    /// - Parameter drop: deletes the token of a set that gives way to this one, before the set is removed from the list.
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
            throw StorageError(.other, "\(key)", problem: "other processes changed it before each write")
        }
    }

    private static func sets(in stored: Secret?) -> [String] {
        guard let stored else { return [] }
        return stored.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
    }
}
