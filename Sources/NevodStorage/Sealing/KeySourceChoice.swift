internal import NevodSupport

/// Chooses the source whose key wraps a store's data key. A new store takes the first source that is available. From then on, the
/// store opens only with that kind, and never falls back to a weaker one.
extension SealedKey {
    /// Wraps a key with the first available source.
    ///
    /// - Parameters:
    ///   - name: The store's name, for the error.
    ///   - old: The key to be replaced. The new key is refused if the same source key wraps both: anyone who has that source key
    ///     could open it.
    package static func make(
        _ key: SealingKey, of store: StoreIdentifier, named name: String, with sources: [any StoreKeySource],
        inPlaceOf old: SealedKey? = nil
    ) async throws -> SealedKey {
        for source in sources where await source.isAvailable() {
            let salt = StoreIdentifier.random().bytes
            let wrapping = try await wrappingKey(of: source, store, salt, isNew: true)
            if let old, wrapping.open(old.sealed, for: SealedPlace.dataKey(wrappedBy: source.kind, of: store)) != nil {
                throw StorageError(
                    .other, name,
                    problem: "is sealed by \(source.description) already: anyone who has that key could still open it",
                    remedy: "give it another key, such as a key file that doesn't exist yet")
            }
            return SealedKey(
                store: store, kind: source.kind, salt: salt,
                sealed: wrapping.seal(key.bytes, for: SealedPlace.dataKey(wrappedBy: source.kind, of: store)))
        }
        throw StorageError(
            .unavailable, name, problem: "has nowhere to keep its key: \(names(of: sources)) can't be used")
    }

    /// Opens the key with the first fitting source of the kind that wrapped it. A store that moves from one key file to another
    /// has two sources of one kind.
    ///
    /// - Parameter name: The store's name, for the error.
    package func open(named name: String, with sources: [any StoreKeySource]) async throws -> SealingKey {
        try await openFinding(named: name, with: sources).key
    }

    /// Like ``open(named:with:)``, and also returns the source that fits.
    func openFinding(
        named name: String, with sources: [any StoreKeySource]
    ) async throws -> (key: SealingKey, source: any StoreKeySource) {
        let matching = sources.filter { $0.kind == kind }
        guard !matching.isEmpty else {
            throw StorageError(
                .unavailable, name, problem: "is sealed by \(kind), but only \(Self.names(of: sources)) can be used here",
                remedy: "open it with that kind of key, or move it to another with rekey")
        }
        var failure: (any Error)?
        for source in matching {
            do {
                if let key = try await open(with: source) { return (key, source) }
            } catch let error as CancellationError { throw error } catch {
                failure = failure ?? error
            }
        }
        // If a source failed, it may have the right key, so its error says more than that the other keys are wrong.
        throw failure
            ?? StorageError(
                .permissions, name, problem: "does not open with \(Self.names(of: matching))",
                remedy: "the key is another store's, or was changed: use the key that the store was created with")
    }

    /// - Returns: nil if another key wrapped it.
    private func open(with source: any StoreKeySource) async throws -> SealingKey? {
        let wrapping = try await Self.wrappingKey(of: source, store, salt, isNew: false)
        let place = SealedPlace.dataKey(wrappedBy: kind, of: store)
        guard let key = wrapping.open(sealed, for: place), key.count == SealingKey.size else { return nil }
        return SealingKey(key)
    }

    /// - Throws: an error of the source, or if a source outside this library returns a key of another size.
    private static func wrappingKey(
        of source: any StoreKeySource, _ store: StoreIdentifier, _ salt: [UInt8], isNew: Bool
    ) async throws -> SealingKey {
        let key = try await source.key(for: store, salt: salt, isNew: isNew)
        guard key.count == SealingKey.size else {
            throw StorageError(
                .damaged, source.description, problem: "returned a key of \(key.count) bytes instead of \(SealingKey.size)")
        }
        return SealingKey(key)
    }

    private static func names(of sources: [any StoreKeySource]) -> String {
        sources.isEmpty ? "no source" : sources.map(\.description).joined(separator: ", ")
    }
}
