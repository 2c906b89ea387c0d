internal import NevodSupport

/// The opened data key of a store. Another process may give the store a new key at any time. The next operation then finds
/// another key number beside the values, and opens the store's key again.
package final class StoreKeyring: Sendable {
    private let name: String
    private let keeper: any SealedKeyKeeping
    private let sources: Locked<[any StoreKeySource]>
    private let state: Locked<State>

    private struct State {
        var opened: OpenedKey
        /// The source that wraps the key, and the salt that it was given.
        var source: any StoreKeySource
        var salt: [UInt8]
    }

    /// Opens the store's key, or creates one.
    ///
    /// - Parameters:
    ///   - name: The store's name, for errors.
    ///   - sources: A new store is created with the first available source.
    package init(of name: String, in keeper: any SealedKeyKeeping, sources: [any StoreKeySource]) async throws {
        self.name = name
        self.keeper = keeper
        self.sources = Locked(sources)
        state = Locked(try await Self.open(name, keeper, sources, mayCreate: true))
    }

    /// ``StoreKeySource/kind`` of the source that wraps the key.
    package var kind: String { state.withLock(\.opened.kind) }
    package var store: StoreIdentifier { state.withLock(\.opened.store) }

    /// - Parameter body: Returns nil if the store has a new key now; it is then called again with that key.
    package func withCurrentKey<Result: Sendable>(
        _ body: @Sendable (OpenedKey) async throws -> Result?
    ) async throws -> Result {
        for _ in 0..<8 {
            if let result = try await body(state.withLock(\.opened)) { return result }
            try await reopen()
        }
        throw StorageError(.busy, name, problem: "its key keeps being changed by others", remedy: "try again")
    }

    /// - Parameter source: The source of the key from now on; nil to use the sources given before.
    package func reopen(with source: (any StoreKeySource)? = nil) async throws {
        let sources = sources.withLock { sources in
            if let source { sources.insert(source, at: 0) }
            return sources
        }
        let new = try await Self.open(name, keeper, sources, mayCreate: false)
        state.withLock { $0 = new }
    }

    /// Notes that the store now uses this new key.
    package func adopt(_ new: OpenedKey, of source: any StoreKeySource) {
        expect(source)
        state.withLock { ($0.opened, $0.source) = (new, source) }
    }

    /// Notes that `source` may wrap the store's key. It is then used the next time the key is opened.
    package func expect(_ source: any StoreKeySource) {
        sources.withLock { $0.insert(source, at: 0) }
    }

    /// Creates a new data key to replace the store's. Returns it both wrapped and opened.
    ///
    /// - Throws: an error of the source, or if the key of `source` already wraps the current data key.
    package func successor(
        of old: OpenedKey, wrappedBy source: any StoreKeySource
    ) async throws -> (sealed: SealedKey, opened: OpenedKey) {
        let key = SealingKey.random()
        let present = try await keeper.sealedKey()?.0
        let sealed = try await SealedKey.make(key, of: old.store, named: name, with: [source], inPlaceOf: present)
        return (sealed, OpenedKey(store: old.store, number: old.number + 1, kind: sealed.kind, key: key))
    }

    /// The count of changes that is kept with the key, and the key's number.
    func keptCount() async -> (count: UInt64, keyNumber: Int64)? {
        let (opened, source, salt) = state.withLock { ($0.opened, $0.source, $0.salt) }
        return await source.count(of: opened.store, salt: salt).map { ($0, opened.number) }
    }

    func keep(_ count: UInt64, hasRemoved: Bool) async {
        let (opened, source, salt) = state.withLock { ($0.opened, $0.source, $0.salt) }
        await source.keep(count, of: opened.store, salt: salt, hasRemoved: hasRemoved)
    }

    private static func open(
        _ name: String, _ keeper: any SealedKeyKeeping, _ sources: [any StoreKeySource], mayCreate: Bool
    ) async throws -> State {
        if let (sealed, number) = try await keeper.sealedKey() { return try await open(name, sealed, number, sources) }
        // A store that was open before isn't new. With another key, the values sealed with its lost key would be lost too.
        if mayCreate { try await keeper.addFirst(try await SealedKey.make(.random(), of: .random(), named: name, with: sources)) }
        guard let (sealed, number) = try await keeper.sealedKey() else {
            throw StorageError(.damaged, name, problem: "has lost its key", remedy: StorageError.restoring)
        }
        return try await open(name, sealed, number, sources)
    }

    private static func open(
        _ name: String, _ sealed: SealedKey, _ number: Int64, _ sources: [any StoreKeySource]
    ) async throws -> State {
        // The number isn't sealed, so it is checked: the next key's number is one more.
        guard (1..<Int64.max).contains(number) else {
            throw StorageError(
                .damaged, name, problem: "the number of its key is \(number), which no store writes",
                remedy: StorageError.restoring)
        }
        let (key, source) = try await sealed.openFinding(named: name, with: sources)
        return State(
            opened: OpenedKey(store: sealed.store, number: number, kind: sealed.kind, key: key), source: source,
            salt: sealed.salt)
    }
}
