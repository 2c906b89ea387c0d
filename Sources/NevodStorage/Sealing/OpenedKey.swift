package import NevodSupport

/// A store's data key, and which of the store's keys, past and present, it is.
package struct OpenedKey: Sendable {
    package let store: StoreIdentifier
    package let number: Int64
    package let kind: String
    let key: SealingKey

    /// For one key and one of its versions: it opens nowhere else.
    package func seal(_ secret: Secret, _ key: StorageKey, _ version: Int64) -> [UInt8] {
        self.key.seal(secret, for: place(key, version))
    }

    /// - Parameter name: the store's, for the error.
    /// - Returns: nil: nothing is stored.
    package func open(_ entry: SealedEntry, _ key: StorageKey, in name: String) throws(StorageError) -> Secret? {
        guard let sealed = entry.sealed else { return nil }
        guard let secret = self.key.open(sealed, for: place(key, entry.version)) else {
            throw StorageError(
                .damaged, name, problem: "the value of \(key) does not open: it was changed, or belongs to another key",
                remedy: "log in again, or put the store back from a backup")
        }
        return secret
    }

    private func place(_ key: StorageKey, _ version: Int64) -> [UInt8] {
        store.bytes + withUnsafeBytes(of: version.bigEndian) { Array($0) } + Array(key.rawValue.utf8)
    }
}

/// What is stored under a key, as it is stored.
package struct SealedEntry: Sendable {
    /// 0: there has never been anything.
    package var version: Int64 = 0
    /// Nil: it was removed.
    package var sealed: [UInt8]?
    /// Of the data key that all values are sealed with now.
    package var keyNumber: Int64 = 0

    package init(version: Int64 = 0, sealed: [UInt8]? = nil, keyNumber: Int64 = 0) {
        self.version = version
        self.sealed = sealed
        self.keyNumber = keyNumber
    }
}
