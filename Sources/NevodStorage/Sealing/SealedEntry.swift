/// A stored entry, still sealed.
package struct SealedEntry: Sendable {
    /// 0 if the key has never had a value.
    package var version: Int64 = 0
    /// nil if the value was removed.
    package var sealed: [UInt8]?
    /// The number of the data key that seals all values now.
    package var keyNumber: Int64 = 0

    package init(version: Int64 = 0, sealed: [UInt8]? = nil, keyNumber: Int64 = 0) {
        self.version = version
        self.sealed = sealed
        self.keyNumber = keyNumber
    }

    /// The version of the key's next value.
    ///
    /// - Parameter name: The store's name, for the error.
    /// - Throws: `damaged` for a number that no store counts up to: the row was changed by something else.
    package func nextVersion(of key: StorageKey, in name: String) throws(StorageError) -> Int64 {
        guard version >= 0, version < .max else {
            throw StorageError(
                .damaged, name, problem: "the version of \(key) is \(version), which no store writes: its row was changed",
                remedy: StorageError.restoring)
        }
        return version + 1
    }
}
