package import NevodSupport

/// A store's data key, with its number among the store's past and present keys.
package struct OpenedKey: Sendable {
    package let store: StoreIdentifier
    package let number: Int64
    package let kind: String
    let key: SealingKey

    /// Seals a value for one key and one of its versions; it opens for no other.
    package func seal(_ secret: Secret, _ key: StorageKey, _ version: Int64) -> [UInt8] {
        self.key.seal(secret, for: place(key, version))
    }

    /// - Parameter name: The store's name, for the error.
    /// - Returns: nil if nothing is stored.
    package func open(_ entry: SealedEntry, _ key: StorageKey, in name: String) throws(StorageError) -> Secret? {
        guard let sealed = entry.sealed else { return nil }
        guard let secret = self.key.open(sealed, for: place(key, entry.version)) else {
            throw StorageError(
                .damaged, name, problem: "the value of \(key) does not open: it was changed, or belongs to another key",
                remedy: "log in again, or restore the store from a backup")
        }
        return secret
    }

    private func place(_ key: StorageKey, _ version: Int64) -> [UInt8] {
        store.bytes + withUnsafeBytes(of: version.bigEndian) { Array($0) } + Array(key.rawValue.utf8)
    }
}
