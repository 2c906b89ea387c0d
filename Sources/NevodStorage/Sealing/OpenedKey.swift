package import NevodSupport

/// A store's data key, with its number among the store's past and present keys.
package struct OpenedKey: Sendable {
    package let store: StoreIdentifier
    package let number: Int64
    package let kind: String
    let key: SealingKey

    /// Seals a value for one key and version. The value opens for no other (``SealedPlace``).
    package func seal(_ secret: Secret, _ key: StorageKey, _ version: Int64) -> [UInt8] {
        self.key.seal(secret, for: SealedPlace.value(of: key, version, in: store))
    }

    /// - Parameter name: The store's name, for the error.
    /// - Returns: nil if nothing is stored.
    package func open(_ entry: SealedEntry, _ key: StorageKey, in name: String) throws(StorageError) -> Secret? {
        // The version of a removed value isn't sealed, and the caller derives the next version from it, so it is checked.
        _ = try entry.nextVersion(of: key, in: name)
        guard let sealed = entry.sealed else { return nil }
        let place = SealedPlace.value(of: key, entry.version, in: store)
        guard let secret = self.key.open(sealed, for: place) else { throw Self.unopened(key, in: name) }
        return secret
    }

    static func unopened(_ key: StorageKey, in name: String) -> StorageError {
        StorageError(
            .damaged, name, problem: "the value of \(key) does not open: it was changed, or belongs to another key",
            remedy: "log in again, or \(StorageError.restoring)")
    }
}

/// Values and pages of a store with a register. A value that was sealed without a register doesn't open here.
extension OpenedKey {
    func seal(_ secret: Secret, registered key: StorageKey, _ version: UInt64) -> [UInt8] {
        self.key.seal(secret, for: SealedPlace.registered(key, version, in: store))
    }

    /// - Returns: nil if it does not open.
    func open(_ sealed: [UInt8], registered key: StorageKey, _ version: UInt64) -> Secret? {
        self.key.open(sealed, for: SealedPlace.registered(key, version, in: store))
    }

    /// - Parameter version: The number of changes when the page was written; 0 for the first page.
    func seal(page: RegisterPage.Number, _ content: [UInt8], _ version: UInt64) -> [UInt8] {
        key.seal(Secret(copying: content), for: SealedPlace.page(page, version, in: store))
    }

    func open(page: RegisterPage.Number, _ sealed: [UInt8], _ version: UInt64) -> [UInt8]? {
        key.open(sealed, for: SealedPlace.page(page, version, in: store))?.copied(as: [UInt8].self)
    }
}

/// A stored entry, still sealed.
package struct SealedEntry: Sendable {
    /// 0 if the key has never had a value.
    package var version: Int64 = 0
    /// Nil if the value was removed.
    package var sealed: [UInt8]?
    /// The number of the data key that seals all values at present.
    package var keyNumber: Int64 = 0

    package init(version: Int64 = 0, sealed: [UInt8]? = nil, keyNumber: Int64 = 0) {
        self.version = version
        self.sealed = sealed
        self.keyNumber = keyNumber
    }

    /// The version of the key's next value.
    ///
    /// - Parameter name: The store's name, for the error.
    /// - Throws: `damaged` for a number that no store writes: something else has changed the row.
    package func nextVersion(of key: StorageKey, in name: String) throws(StorageError) -> Int64 {
        guard version >= 0, version < .max else {
            throw StorageError(
                .damaged, name, problem: "the version of \(key) is \(version), which no store writes: its row was changed",
                remedy: StorageError.restoring)
        }
        return version + 1
    }
}
