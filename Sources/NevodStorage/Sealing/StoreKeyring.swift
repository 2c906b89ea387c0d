internal import NevodSupport

/// Where a store keeps its wrapped data key.
package protocol SealedKeyKeeping: Sendable {
    /// Nil: the store is new.
    func sealedKey() async throws -> (SealedKey, number: Int64)?
    /// The first, of number 1; nothing if another process was earlier: its key is the store's.
    func addFirst(_ key: SealedKey) async throws
}

/// The open data key of a store. Another process may give the store another one at any time; who uses this one then finds
/// another number beside the values, and opens the store's key anew.
package final class StoreKeyring: Sendable {
    private let name: String
    private let keeper: any SealedKeyKeeping
    private let sources: Locked<[any StoreKeySource]>
    private let opened: Locked<OpenedKey>

    /// Opens the store's key, or makes one.
    ///
    /// - Parameters:
    ///   - name: of the store, for errors.
    ///   - sources: a new store is made with the first that is available.
    package init(of name: String, in keeper: any SealedKeyKeeping, sources: [any StoreKeySource]) async throws {
        self.name = name
        self.keeper = keeper
        self.sources = Locked(sources)
        opened = Locked(try await Self.open(name, keeper, sources, mayMake: true))
    }

    /// ``StoreKeySource/kind`` of the source that wraps it.
    package var kind: String { opened.withLock(\.kind) }
    package var store: StoreIdentifier { opened.withLock(\.store) }

    /// - Parameter body: returns nil if the store has another key by now, and is then called again with that one.
    package func withCurrentKey<Result: Sendable>(
        _ body: @Sendable (OpenedKey) async throws -> Result?
    ) async throws -> Result {
        for _ in 0..<8 {
            if let result = try await body(opened.withLock(\.self)) { return result }
            try await reopen()
        }
        throw StorageError(.busy, name, problem: "its key is changed again and again", remedy: "try once more")
    }

    /// - Parameter source: of the key that it has from now on; nil: one that was given before.
    package func reopen(with source: (any StoreKeySource)? = nil) async throws {
        let sources = sources.withLock { sources in
            if let source { sources.insert(source, at: 0) }
            return sources
        }
        let new = try await Self.open(name, keeper, sources, mayMake: false)
        opened.withLock { $0 = new }
    }

    /// The store has taken a successor as its key.
    package func adopt(_ new: OpenedKey, of source: any StoreKeySource) {
        expect(source)
        opened.withLock { $0 = new }
    }

    /// The store may have a key by now that `source` wraps: if so, it opens with that when it is next needed.
    package func expect(_ source: any StoreKeySource) {
        sources.withLock { $0.insert(source, at: 0) }
    }

    /// A new data key, for the store to take in place of the one that it has: wrapped, and open.
    ///
    /// - Throws: also if the key of `source` is the one that wraps the present data key.
    package func successor(
        of old: OpenedKey, wrappedBy source: any StoreKeySource
    ) async throws -> (sealed: SealedKey, opened: OpenedKey) {
        let key = SealingKey.random()
        let present = try await keeper.sealedKey()?.0
        let sealed = try await SealedKey.make(key, of: old.store, named: name, with: [source], inPlaceOf: present)
        return (sealed, OpenedKey(store: old.store, number: old.number + 1, kind: sealed.kind, key: key))
    }

    private static func open(
        _ name: String, _ keeper: any SealedKeyKeeping, _ sources: [any StoreKeySource], mayMake: Bool
    ) async throws -> OpenedKey {
        if let (sealed, number) = try await keeper.sealedKey() {
            return OpenedKey(
                store: sealed.store, number: number, kind: sealed.kind, key: try await sealed.open(named: name, with: sources))
        }
        // A store that was open a moment ago isn't new: values sealed with the key it has lost would be lost with another.
        if mayMake { try await keeper.addFirst(try await SealedKey.make(.random(), of: .random(), named: name, with: sources)) }
        guard let (sealed, number) = try await keeper.sealedKey() else {
            throw StorageError(.damaged, name, problem: "does not keep its key", remedy: "put it back from a backup")
        }
        return OpenedKey(
            store: sealed.store, number: number, kind: sealed.kind, key: try await sealed.open(named: name, with: sources))
    }
}
