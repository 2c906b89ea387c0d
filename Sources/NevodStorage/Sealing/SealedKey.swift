internal import COpenSSL
internal import NevodSupport

/// A store's data key, wrapped by the key of a source: what the store keeps of it.
package struct SealedKey: Sendable {
    package let store: StoreIdentifier
    /// Of the source.
    package let kind: String
    package let salt: [UInt8]
    package let sealed: [UInt8]

    package init(store: StoreIdentifier, kind: String, salt: [UInt8], sealed: [UInt8]) {
        self.store = store
        self.kind = kind
        self.salt = salt
        self.sealed = sealed
    }

    /// Wraps a key with the first source that can be used.
    ///
    /// - Parameters:
    ///   - name: the store's, for the error.
    ///   - old: in whose place it comes. Wrapped by the same key, the new one would be open to whoever has that already, so that
    ///     is refused.
    package static func make(
        _ key: SealingKey, of store: StoreIdentifier, named name: String, with sources: [any StoreKeySource],
        inPlaceOf old: SealedKey? = nil
    ) async throws -> SealedKey {
        for source in sources where await source.isAvailable() {
            let salt = StoreIdentifier.random().bytes
            let wrapping = SealingKey(try await source.key(for: store, salt: salt, isNew: true))
            if let old, wrapping.open(old.sealed, for: place(store, source.kind)) != nil {
                throw StorageError(
                    .other, name,
                    problem: "is sealed by \(source.description) already: whoever has that key would open it ever after",
                    remedy: "give it another key, such as a key file that isn't there yet")
            }
            return SealedKey(
                store: store, kind: source.kind, salt: salt,
                sealed: wrapping.seal(key.bytes, for: place(store, source.kind)))
        }
        throw StorageError(
            .unavailable, name, problem: "has nowhere to keep its key: \(names(of: sources)) can't be used")
    }

    /// Never with another kind of source than it was wrapped with. Of that kind, with the first that opens it: a store that goes
    /// from one key file to another has two.
    ///
    /// - Parameter name: the store's, for the error.
    package func open(named name: String, with sources: [any StoreKeySource]) async throws -> SealingKey {
        let able = sources.filter { $0.kind == kind }
        guard !able.isEmpty else {
            throw StorageError(
                .unavailable, name, problem: "is sealed by \(kind), and only \(Self.names(of: sources)) can be used here",
                remedy: "open it as it was made, or move it to another key with rekey")
        }
        var failure: (any Error)?
        for source in able {
            do {
                if let key = try await open(with: source) { return key }
            } catch let error as CancellationError { throw error } catch {
                failure = failure ?? error
            }
        }
        // A key that can't be had may be the right one, and says more than those that are wrong.
        throw failure
            ?? StorageError(
                .permissions, name, problem: "does not open with \(Self.names(of: able))",
                remedy: "it is another store's, or was changed: give the one that it was made with")
    }

    /// - Returns: nil: it was wrapped with another key.
    private func open(with source: any StoreKeySource) async throws -> SealingKey? {
        let wrapping = SealingKey(try await source.key(for: store, salt: salt, isNew: false))
        guard let key = wrapping.open(sealed, for: Self.place(store, kind)), key.count == SealingKey.size else { return nil }
        return SealingKey(key)
    }

    private static func names(of sources: [any StoreKeySource]) -> String {
        sources.isEmpty ? "no source" : sources.map(\.description).joined(separator: ", ")
    }

    private static func place(_ store: StoreIdentifier, _ kind: String) -> [UInt8] {
        store.bytes + Array("nevod data key by \(kind)".utf8)
    }
}

extension StoreIdentifier {
    package static func random() -> StoreIdentifier {
        var bytes = [UInt8](repeating: 0, count: 16)
        let isRandom = RAND_bytes(&bytes, Int32(bytes.count)) == 1
        precondition(isRandom, "OpenSSL has no random numbers")
        return StoreIdentifier(bytes: bytes)
    }

    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}
